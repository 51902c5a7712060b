//! The function itself: its nodes on the calling task.
//!
//! Where only one node can run, it is emitted as it was written; its value is a local
//! variable and costs nothing. Where several can, they become async blocks that one poll
//! loop drives (`Group`), with slots for the values that they pass to each other. All
//! other values they capture like any async block, so what the compiler says about them
//! is what it always says.

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
    // Values that are lent are dereferenced, also where that was not necessary.
    function.attrs.push(syn::parse_quote!(
        #[allow(clippy::borrow_deref_ref, clippy::explicit_auto_deref)]
    ));
    // What only a `key` uses is of use only to a pipeline.
    if graph.steps().iter().any(|step| step.options.key.is_some()) {
        function
            .attrs
            .push(syn::parse_quote!(#[allow(unused_variables)]));
    }
    *function.block = syn::parse_quote!({ #(#items)* #body });
    emit!(#function)
}
