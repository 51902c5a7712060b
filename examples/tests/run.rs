//! Every example runs to its end and says what it promised.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn uneven_runs_every_task_in_both_ways() {
    for workers in ["1", "2", "6"] {
        let output = Command::new(env!("CARGO_BIN_EXE_uneven"))
            .arg(workers)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        // Both reports: as many tasks were run as were dealt.
        let (split, stealing) = text.split_once("Work stealing with").expect("two reports");
        for report in [split, stealing] {
            assert!(report.contains("Utilization: "), "{report}");
            assert_eq!(
                sum_after("dealt ", report),
                sum_after("ran ", report),
                "{report}"
            );
        }
        assert_eq!(sum_after("dealt ", split), sum_after("dealt ", stealing));
    }
}

#[test]
fn uneven_says_what_it_expects() {
    for bad in ["0", "many", "300"] {
        let output = Command::new(env!("CARGO_BIN_EXE_uneven"))
            .arg(bad)
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(
            String::from_utf8(output.stderr)
                .unwrap()
                .contains("usage: uneven")
        );
    }
}

/// Adds up the numbers that follow `word`.
fn sum_after(word: &str, text: &str) -> u32 {
    let number = |rest: &str| {
        rest.split(|c: char| !c.is_ascii_digit())
            .next()
            .unwrap()
            .parse()
    };
    text.split(word)
        .skip(1)
        .map(|rest| number(rest).unwrap_or(0))
        .sum()
}

#[test]
fn hello_adds_up() {
    assert!(run(env!("CARGO_BIN_EXE_hello")).contains("333833500"));
}

#[test]
fn swap_counts_alike_on_both_executors() {
    let text = run(env!("CARGO_BIN_EXE_swap"));
    assert!(text.contains("7 × the\n"), "{text}");
    assert!(text.contains(" polls"), "{text}");
}

#[test]
fn tour_visits_every_stop() {
    let text = run(env!("CARGO_BIN_EXE_tour"));
    for part in [
        "32 clients, 16000 messages there and back",
        "there are 17984 primes below 200000",
        "add up to 8999995500000500000",
        "230631 needs the most Collatz steps: 442",
        "10 words, the longest is \"every\"",
        "  worker     polls",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn mixed_answers_every_request() {
    let text = run(env!("CARGO_BIN_EXE_mixed"));
    let first = text.lines().next().expect("a line");
    let count = |word: &str| sum_after(word, first);
    assert!(count("Answered ") > 0, "{text}");
    assert_eq!(count("Answered "), count(" of "), "{text}");
    assert!(text.contains("the median of 1000000 numbers is"), "{text}");
    assert!(text.contains("Worker 0: "), "{text}");
}

#[test]
fn files_are_counted_in_both_ways_and_removed() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files");
    fs::create_dir_all(&place).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_files"))
        .env("TMPDIR", &place)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for part in [
        "async-fs: 100 files",
        "spawn_blocking: 100 files",
        "     400 × for\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);

    let missing = Command::new(env!("CARGO_BIN_EXE_files"))
        .arg(place.join("missing"))
        .output()
        .unwrap();
    assert!(!missing.status.success());
    assert!(String::from_utf8_lossy(&missing.stderr).starts_with("error: "));
}

/// Runs a program that must succeed; returns what it prints.
fn run(program: &str) -> String {
    let output = Command::new(program).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}
