//! The TLS example runs to its end, and both sides end cleanly.

use std::process::Command;

#[test]
fn the_clients_are_served_and_the_stranger_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_tls"))
        .arg("20")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    // "client 0 has a question" has 23 letters, and the clients from 10 on one more.
    assert!(
        text.starts_with("20 clients, 47000 bytes there and back, encrypted\n"),
        "{text}"
    );
    assert!(
        text.contains("20 connections served, 1 refused: "),
        "{text}"
    );
    assert!(text.contains("UnknownIssuer"), "{text}");
}
