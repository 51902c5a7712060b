//! The `#[task_graph]` attribute macro.
//!
//! | file | stage |
//! |---|---|
//! | `parse` | the function as written: inputs, steps, options |
//! | `lower` | the graph: values, their users, and which step waits for which |
//! | `validate` | one function for each rule; all errors are reported together |
//! | `expand` | the function itself, and the module of the same name |
//!
//! The documentation of the macro is in `ws_executor::graph`.

#![forbid(unsafe_code)]

mod draw;
mod duration;
mod entry;
mod errors;
mod expand;
mod format;
#[cfg(test)]
mod fuzz;
mod gates;
mod lower;
mod macros;
mod names;
mod options;
mod parse;
mod similar;
mod traits;
mod validate;

use proc_macro2::TokenStream;

use errors::Errors;
use lower::Graph;

/// Makes a task graph of an `async fn`: its independent statements run at the same time.
///
/// The language, its options and arguments are documented in `ws_executor::graph`.
#[proc_macro_attribute]
pub fn task_graph(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    task_graph2(args.into(), item.into()).into()
}

fn task_graph2(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(parsed) = parse::parse(args, item.clone(), &mut errors) else {
        return [errors.to_tokens(), item].into_iter().collect();
    };
    let graph = Graph::new(parsed);
    validate::validate(&graph, &mut errors);
    if errors.is_empty() {
        expand::expand(&graph)
    } else {
        [errors.to_tokens(), expand::stub(&graph, &errors)]
            .into_iter()
            .collect()
    }
}
