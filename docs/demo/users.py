"""A small web application with mistakes, for the picture in the README."""

import sqlite3

from flask import Flask, request

app = Flask(__name__)


def matching(column, value):
    return f"SELECT * FROM users WHERE {column} = '{value}'"


@app.route("/user")
def user():
    name = request.args["name"]
    query = matching("name", name)
    with sqlite3.connect("users.db") as connection:
        return connection.execute(query).fetchall()


if __name__ == "__main__":
    app.run(debug=True)
