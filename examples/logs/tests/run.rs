//! The pipeline comes to its end with every line accounted for, also in two runs.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::{env, fs, process};

fn logs(lines: u32, directory: &PathBuf) -> Output {
    Command::new(env!("CARGO_BIN_EXE_logs"))
        .arg(lines.to_string())
        .arg(directory)
        .output()
        .unwrap()
}

/// The numbers of the line after the one that begins with these words.
fn numbers_after(words: &str, text: &str) -> Vec<u64> {
    let mut lines = text.lines();
    lines
        .find(|line| line.trim_start().starts_with(words))
        .unwrap_or_else(|| panic!("no {words} in {text}"));
    let numbers = lines.next().unwrap().split_whitespace();
    numbers.map(|number| number.parse().unwrap()).collect()
}

#[test]
fn every_line_is_a_row_or_known_why_not() {
    let directory = env::temp_dir().join(format!("logs-test-{}", process::id()));
    let output = logs(3000, &directory);
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert!(text.starts_with("3000 items in "), "{text}");
    let [done, skipped, rejected, failed, cancelled, _] = numbers_after("done", &text)[..] else {
        panic!("{text}");
    };
    assert_eq!(done + skipped + rejected, 3000, "{text}");
    assert_eq!((failed, cancelled), (0, 0), "{text}");
    assert!(skipped > 0 && rejected > 0, "{text}");
    let letters = fs::read_to_string(directory.join("rejected.jsonl")).unwrap();
    assert_eq!(letters.lines().count() as u64, rejected);
    let rows: u64 = text
        .lines()
        .skip_while(|line| !line.starts_with("country"))
        .skip(1)
        .take(5)
        .map(|line| {
            line.split_whitespace()
                .nth(1)
                .unwrap()
                .parse::<u64>()
                .unwrap()
        })
        .sum();
    assert_eq!(rows, done, "{text}");

    // All lines are done with: a second run has nothing to do.
    let again = String::from_utf8(logs(3000, &directory).stdout).unwrap();
    assert!(again.starts_with("0 items in "), "{again}");
    fs::remove_dir_all(directory).unwrap();
}
