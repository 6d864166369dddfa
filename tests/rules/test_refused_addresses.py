"""Requests to addresses that a function or a client refuses by their networks, in Go and Java."""

import pytest
from marked_lines import lines_with_findings, marked_lines

GO = """\
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

var errInside = errors.New("inside")

func inside(ip net.IP) bool { return ip.IsLoopback() || ip.IsPrivate() }

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		if inside(one.IP) {
			return nil, errInside
		}
	}
	return net.Dial(network, net.JoinHostPort(found[0].IP.String(), port))
}

func loggedDial(ctx context.Context, network, address string) (net.Conn, error) {
	log.Println("dial")
	return net.Dial(network, address)
}

func refusing() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = dial
	return &http.Client{Timeout: time.Second, Transport: transport}
}

type fetcher struct{ client, other *http.Client }

var shared = &fetcher{client: refusing(), other: &http.Client{Timeout: time.Second}}

func (f *fetcher) fetch(address string) error {
	request, err := http.NewRequestWithContext(context.Background(), "GET", address, nil) // harmless
	if err != nil {
		return err
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (f *fetcher) fetchByOther(address string) error {
	request, err := http.NewRequest("GET", address, nil) // harmful
	if err != nil {
		return err
	}
	answer, err := f.other.Do(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (f *fetcher) fetchByBoth(address string) {
	request, _ := http.NewRequest("GET", address, nil) // harmful
	f.client.Do(request)
	f.other.Do(request)
}

var controlled = &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{
	Timeout: time.Second,
	Control: func(network, address string, c syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || at.Addr().IsPrivate() {
			return errInside
		}
		return nil
	},
}).DialContext}}
var byLibrary = &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{
	Control: ssrf.New().Safe,
}).DialContext}}
var plain = &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: time.Second}).DialContext}}
var logged = &http.Client{Transport: &http.Transport{DialContext: loggedDial}}

func check(address string) error {
	parts, err := url.Parse(address)
	if err != nil {
		return err
	}
	found, err := net.LookupIP(parts.Hostname())
	if err != nil {
		return err
	}
	for _, ip := range found {
		if inside(ip) {
			return errInside
		}
	}
	return nil
}

func checkScheme(address string) error {
	parts, err := url.Parse(address)
	if err != nil {
		return err
	}
	if parts.Scheme != "https" {
		return errInside
	}
	return nil
}

func handle(w http.ResponseWriter, r *http.Request) {
	address := r.FormValue("address")
	shared.fetch(address)
	shared.fetchByOther(address)
	shared.fetchByBoth(address)
	controlled.Get(address) // harmless
	byLibrary.Get(address)  // harmless
	plain.Get(address)      // harmful
	logged.Get(address)     // harmful
	if check(address) == nil {
		http.Get(address) // harmless
	}
	if err := check(address); err != nil {
		http.Get(address) // harmful
		return
	}
	http.Get(address) // harmless
}

func handleScheme(w http.ResponseWriter, r *http.Request) {
	address := r.FormValue("address")
	if err := checkScheme(address); err != nil {
		return
	}
	http.Get(address) // harmful
}

func main() {
	http.HandleFunc("/a", handle)
	http.HandleFunc("/b", handleScheme)
}
"""
JAVA = """\
import java.io.IOException;
import java.net.InetAddress;
import java.net.URL;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

class Fetch extends HttpServlet {
    private static void refuseInside(String address) throws IOException {
        InetAddress found = InetAddress.getByName(new URL(address).getHost());
        if (found.isLoopbackAddress() || found.isSiteLocalAddress()) {
            throw new IOException("inside");
        }
    }
    private static void refuseScheme(String address) throws IOException {
        if (!new URL(address).getProtocol().equals("https")) {
            throw new IOException("scheme");
        }
    }
    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String address = request.getParameter("address");
        refuseInside(address);
        new URL(address).openStream().close(); // harmless
    }
    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String address = request.getParameter("address");
        refuseScheme(address);
        new URL(address).openStream().close(); // harmful
    }
}
"""
PROGRAMS = {"main.go": GO, "Fetch.java": JAVA}
LINES = marked_lines(PROGRAMS)


@pytest.fixture(scope="module")
def reported():
    return lines_with_findings(PROGRAMS)


@pytest.mark.parametrize(("name", "number", "mark", "line"), LINES, ids=lambda value: str(value)[:40])
def test_what_is_refused_is_not_asked(name, number, mark, line, reported):
    assert ((name, number) in reported) == (mark == "harmful"), line
