//! Every server answers, and ends on Ctrl-C after the requests that are under way.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A running server, and what it prints.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    fn start(program: &str) -> Self {
        let mut child = Command::new(program)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line
            .split(['/', ','])
            .nth(2)
            .expect("an address")
            .to_owned();
        Self {
            child,
            output,
            address,
        }
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn end(mut self) -> String {
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success());
        text
    }
}

fn read(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn serves_and_ends(program: &str) -> String {
    let mut server = Server::start(program);
    for _ in 0..20 {
        let answer = read(server.ask("/"));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.ends_with("hello, world\n"), "{answer}");
    }
    assert!(read(server.ask("/nowhere")).starts_with("HTTP/1.1 404"));

    // Under way when the signal comes: the server has read it, and not only accepted it.
    let slow = server.ask("/slow");
    let mut line = String::new();
    server.output.read_line(&mut line).unwrap();
    assert_eq!(line, "/slow is under way\n");
    for _ in 0..5 {
        assert!(read(server.ask("/")).ends_with("hello, world\n"));
    }
    let pid = server.child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(kill.success());
    assert!(read(slow).ends_with("here at last\n"));
    server.end()
}

#[test]
fn http_over_smol() {
    assert_eq!(
        serves_and_ends(env!("CARGO_BIN_EXE_http_smol")),
        "27 connections served\n"
    );
}

#[test]
fn http_over_tokio() {
    assert_eq!(
        serves_and_ends(env!("CARGO_BIN_EXE_http_tokio")),
        "27 connections served\n"
    );
}

#[test]
fn axum() {
    assert_eq!(
        serves_and_ends(env!("CARGO_BIN_EXE_http_axum")),
        "all connections served\n"
    );
}
