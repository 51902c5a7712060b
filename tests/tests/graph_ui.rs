//! What a user of `#[task_graph]` sees.
//!
//! - `ui/pass` compiles and runs.
//! - `ui/fail` fails with exactly the text beside it. These texts are the macro's own.
//! - `ui/rustc` fails with messages that rustc makes, in part or whole. Their layout is
//!   different in every version, so only what matters is compared: the lines of the file
//!   beside it occur in the output, in this order, after a first one that says how many
//!   errors there may be.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn errors_have_their_texts_and_good_programs_run() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    cases.compile_fail("ui/fail/*.rs");
}

#[test]
fn errors_of_rustc_are_at_the_right_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<String> = fs::read_dir(root.join("ui/rustc"))
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_str()?
                .strip_suffix(".rs")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(names.len() >= 10, "the programs are gone: {names:?}");
    let project = make_project(root, &names);
    let wrong: Vec<String> = names
        .iter()
        .filter_map(|name| compare(root, &project, name).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A package with a binary for each program, with the versions of this workspace.
fn make_project(root: &Path, names: &[String]) -> std::path::PathBuf {
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui_rustc");
    fs::create_dir_all(&project).unwrap();
    let mut manifest = format!(
        "[package]\nname = \"ui_rustc\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nws-executor = {{ path = {:?} }}\n\n[workspace]\n",
        root.join("../ws-executor")
    );
    for name in names {
        let path = root.join(format!("ui/rustc/{name}.rs"));
        manifest += &format!("\n[[bin]]\nname = {name:?}\npath = {path:?}\n");
    }
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("../Cargo.lock"), project.join("Cargo.lock")).unwrap();
    project
}

fn compare(root: &Path, project: &Path, name: &str) -> Result<(), String> {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--color", "never", "--bin", name])
        .current_dir(project)
        .env("CARGO_TARGET_DIR", project.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let expected = fs::read_to_string(root.join(format!("ui/rustc/{name}.expected")))
        .map_err(|error| format!("ui/rustc/{name}.expected: {error}; rustc said:\n{text}"))?;
    let mut lines = expected.lines();
    let most: usize = lines
        .next()
        .and_then(|line| {
            line.strip_prefix("at most ")?
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .ok_or_else(|| format!("{name}.expected does not say how many errors there may be"))?;
    let is_error = |line: &&str| line.starts_with("error") && !line.contains("could not compile");
    let errors = text.lines().filter(is_error).count();
    if !(1..=most).contains(&errors) {
        return Err(format!(
            "{name}: {errors} errors, where 1 to {most} are expected; rustc said:\n{text}"
        ));
    }
    let mut rest = &*text;
    for line in lines {
        let found = rest.find(line.trim()).ok_or_else(|| {
            format!("{name}: no line {line:?} (or not in this order) in:\n{text}")
        })?;
        rest = &rest[found + line.trim().len()..];
    }
    Ok(())
}
