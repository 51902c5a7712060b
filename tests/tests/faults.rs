//! The table of faults in `README.md` names tests that exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../README.md");

/// The source of every test, by the path that the table calls it: `exec_panic::drops`. Those
/// of the package `io` are called `io::clock`.
fn sources() -> BTreeMap<String, String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = BTreeMap::new();
    let mut folders = vec![
        (String::new(), package.join("tests")),
        ("io::".to_owned(), package.join("io/tests")),
    ];
    while let Some((prefix, folder)) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if path.is_dir() {
                folders.push((format!("{prefix}{name}::"), path));
            } else {
                let source = fs::read_to_string(&path).unwrap();
                sources.insert(format!("{prefix}{name}"), source);
            }
        }
    }
    sources
}

/// Whether a test of that name is in its file, or in a module inside of it.
fn exists(sources: &BTreeMap<String, String>, name: &str) -> bool {
    let Some((module, test)) = name.rsplit_once("::") else {
        return false;
    };
    if module.starts_with("io::adapters::") {
        // One function for all adapters, and a list of those functions.
        let head = format!("fn {test}<W: World>(");
        let written = sources.get(module).is_some_and(|it| it.contains(&head));
        let is_word = |source: &String| source.split([' ', ';', '\n']).any(|it| it == test);
        return written && sources.get("io::adapters").is_some_and(is_word);
    }
    let head = format!("fn {test}() {{");
    let is_test = |source: &String| {
        let before = source.split_once(&head).map(|(before, _)| before);
        // The attribute is above, behind the function before.
        let between = before.and_then(|before| before.rsplit("\n}").next());
        between.is_some_and(|between| between.contains("#[test]"))
    };
    let outer = module.rsplit_once("::").map(|(outer, _)| outer);
    [Some(module), outer]
        .into_iter()
        .flatten()
        .filter_map(|module| sources.get(module))
        .any(is_test)
}

/// The words between two marks, in the rows of tables of faults.
fn quoted(mark: char) -> impl Iterator<Item = &'static str> {
    let faults = TABLE.split_once("## Faults").unwrap().1;
    let rows = faults.lines().filter(|line| line.starts_with("| "));
    rows.flat_map(move |row| row.split(mark).skip(1).step_by(2))
}

#[test]
fn every_test_exists() {
    let sources = sources();
    let names: Vec<_> = quoted('`').filter(|name| name.contains("::")).collect();
    assert!(names.len() > 100, "the table has only {names:?}");
    let missing: Vec<_> = names
        .into_iter()
        .filter(|name| !exists(&sources, name))
        .collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

/// Models and schedules are named by strings of their own.
#[test]
fn every_model_and_schedule_exists() {
    let mut sources = String::new();
    for folder in ["checkers/loom", "checkers/shuttle"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in fs::read_dir(folder).unwrap() {
            sources += &fs::read_to_string(entry.unwrap().path()).unwrap();
        }
    }
    let names: Vec<_> = quoted('*').collect();
    assert!(names.len() > 20, "the table has only {names:?}");
    let missing: Vec<_> = names
        .into_iter()
        .filter(|name| !sources.contains(&format!("name: \"{name}\"")))
        .collect();
    assert!(
        missing.is_empty(),
        "no such models or schedules: {missing:#?}"
    );
}

/// Each row that concerns the executor.
#[test]
fn no_row_is_left_out() {
    let of_graphs = 10;
    for row in (1..=60).filter(|&row| row != of_graphs) {
        assert!(
            TABLE.contains(&format!("\n| {row} ")),
            "row {row} is missing"
        );
    }
}
