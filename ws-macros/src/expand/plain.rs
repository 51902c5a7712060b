//! The function itself: its nodes on the calling task.
//!
//! If only one node can run at a time, it is emitted as written: its value is a local variable
//! and costs nothing. If several can run, they become async blocks that one poll loop drives
//! (`Group`), with slots for the values that they pass to each other. They capture all other
//! values like any async block, so the compiler's messages about these are the usual ones.

use proc_macro2::TokenStream;

use super::body::body;
use super::mode::Mode;
use crate::lower::Graph;

pub(super) fn function(graph: &Graph) -> TokenStream {
    let mut function = graph.parsed.plain.clone();
    let items = &graph.parsed.items;
    let body = body(graph, Mode::Plain);
    let docs = super::describe::drawing(graph);
    function.attrs.extend(docs);
    // Shared values are dereferenced, even where that is not necessary.
    function.attrs.push(syn::parse_quote!(
        #[allow(clippy::borrow_deref_ref, clippy::explicit_auto_deref)]
    ));
    // A value that only a `key` uses has a use in a pipeline alone.
    if graph.steps().iter().any(|step| step.options.key.is_some()) {
        function
            .attrs
            .push(syn::parse_quote!(#[allow(unused_variables)]));
    }
    *function.block = syn::parse_quote!({ #(#items)* #body });
    emit!(#function)
}
