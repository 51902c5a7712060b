//! The graph as data, and as a picture in the function's documentation.

use proc_macro2::TokenStream;
use syn::Attribute;
use syn::ext::IdentExt;

use crate::lower::Graph;

/// The picture, as documentation.
pub(super) fn drawing(_graph: &Graph) -> Vec<Attribute> {
    Vec::new()
}

/// The module beside the function.
pub(super) fn module(graph: &Graph, rest: &TokenStream) -> TokenStream {
    let (vis, name) = (&graph.parsed.plain.vis, &graph.parsed.plain.sig.ident);
    let doc = format!(
        "What else there is of the graph [`{0}`](fn@{0}).",
        name.unraw()
    );
    let quiet = super::quiet();
    emit! {
        #[doc = #doc]
        #quiet
        #vis mod #name {
            #rest
        }
    }
}
