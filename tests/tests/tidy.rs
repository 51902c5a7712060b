//! The sources follow the rules of `CONVENTIONS.md` and the map of `ARCHITECTURE.md` that a
//! program can check.
//!
//! Each module is one rule: a function from the texts of files to a list of complaints, the
//! list of what is known to break the rule today, and tests in which the function complains
//! of a planted flaw. Only the tests in this file read the disk.
//!
//! A list of known exceptions must be exact. An entry that is no longer needed is a
//! complaint, too, so that the lists shrink and do not rot.

#[path = "tidy/code_map.rs"]
mod code_map;
#[path = "tidy/cycles.rs"]
mod cycles;
#[path = "tidy/edges.rs"]
mod edges;
#[path = "tidy/files.rs"]
mod files;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/mentions.rs"]
mod mentions;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/orderings.rs"]
mod orderings;
#[path = "tidy/relics.rs"]
mod relics;
#[path = "tidy/type_names.rs"]
mod type_names;

/// The folders of the library crates.
const CRATES: &[&str] = &[
    "ws-core",
    "ws-executor",
    "ws-macros",
    "ws-io-adapters",
    "compat/async-executor",
];

/// Fails with the complaints, if there are any.
fn assert_tidy(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_cycle() {
    let files = files::of_the_repository();
    assert_tidy(&cycles::check(&files, CRATES, cycles::KNOWN));
}

#[test]
fn no_import_leads_to_a_layer_above() {
    let files = files::of_the_repository();
    assert_tidy(&layers::check(&files, "ws-executor", layers::LAYERS));
}

#[test]
fn the_code_map_and_the_files_agree() {
    let files = files::of_the_repository();
    assert_tidy(&code_map::check(&files, CRATES));
}

#[test]
fn every_ordering_has_a_row_and_every_row_an_ordering() {
    let files = files::of_the_repository();
    assert_tidy(&orderings::check(&files, CRATES));
}

#[test]
fn no_two_types_of_a_crate_share_a_name() {
    let files = files::of_the_repository();
    assert_tidy(&type_names::check(&files, CRATES, type_names::PUBLIC));
}

#[test]
fn nothing_refers_to_a_document_that_is_not_here() {
    let files = files::of_the_repository();
    assert_tidy(&relics::check(&files, relics::KNOWN));
}
