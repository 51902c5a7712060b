//! What a user of `#[task_graph]` sees: `ui/pass` compiles and runs, `ui/fail` fails with
//! exactly the text beside it.
//!
//! These texts are the macro's own. Those of rustc, which differ from version to version,
//! are in `ui/rustc`.

#[test]
fn errors_have_their_texts_and_good_programs_run() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    cases.compile_fail("ui/fail/*.rs");
}
