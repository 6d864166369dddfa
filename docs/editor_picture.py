#!/usr/bin/env python3
"""Draw docs/editor.svg: Neovim on docs/demo with findings of `analyze lsp`, as tmux shows it. Needs nvim and tmux."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from picture import HERE, recorder, save
from rich.text import Text

WIDTH, HEIGHT = 110, 26
SECONDS = 30
SETTINGS = """
vim.o.number, vim.o.signcolumn, vim.o.termguicolors, vim.o.laststatus = true, "yes", true, 0
vim.cmd("syntax on | filetype on | colorscheme desert")
for _, group in ipairs({ "Normal", "NonText", "SignColumn" }) do vim.cmd("highlight " .. group .. " guibg=NONE") end
local client = vim.lsp.start_client({ name = "analyze", cmd = %s, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, client)
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
vim.diagnostic.setqflist({ open = true })
vim.cmd("resize 6 | wincmd p")
vim.fn.cursor(vim.diagnostic.get(0)[1].lnum + 1, 1)
"""


def main():
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(HERE / "demo", f"{place}/demo")
        command = "{" + ", ".join(map(json.dumps, [sys.executable, "-P", "-m", "cli", "lsp"])) + "}"
        settings = Path(place, "init.lua")
        settings.write_text(SETTINGS % command)
        text = screen(f"cd {place}/demo && nvim -n -i NONE -u NONE users.py -c 'luafile {settings}'")
        subprocess.run([sys.executable, "-P", "-m", "cli", "serve", "--stop", f"{place}/demo"], check=False)
    console = recorder(WIDTH)
    console.print(Text.from_ansi(text))
    save("editor.svg", "Neovim", console)


def screen(command):
    """Return what a terminal shows after a while."""
    tmux = ["tmux", "-L", "picture", "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), command], check=True)
    time.sleep(SECONDS)
    text = subprocess.run([*tmux, "capture-pane", "-e", "-p"], check=True, capture_output=True, text=True).stdout
    subprocess.run([*tmux, "kill-server"], check=True)
    return text


if __name__ == "__main__":
    main()
