//! The locks of a step's exclusive inputs.

use proc_macro2::TokenStream;
use syn::Ident;

use super::emit::{own, rt};
use crate::lower::Graph;

/// Locks the exclusive inputs of a step until the end of the block.
pub(super) fn locks(graph: &Graph, step: usize) -> Option<TokenStream> {
    lock(graph, step, |name| emit!(__program.#name))
}

/// As [`locks`], where each input is in `handle`. Locks all of them together: see `turns`.
pub(super) fn lock(
    graph: &Graph,
    step: usize,
    handle: impl Fn(&Ident) -> TokenStream,
) -> Option<TokenStream> {
    let rt = rt(&graph.parsed);
    let inputs = graph.inputs_of(step).into_iter();
    let exclusive = inputs.filter(|&value| graph.is_exclusive(value));
    let names: Vec<&Ident> = exclusive.map(|value| &graph.values[value].name).collect();
    let handles: Vec<TokenStream> = names.iter().map(|name| handle(name)).collect();
    let turns = names.iter().map(|name| own("turn", name));
    let turns: Vec<Ident> = turns.collect();
    let guards = names.iter().map(|name| own("lent", name));
    let guards: Vec<Ident> = guards.collect();
    (!names.is_empty()).then(|| {
        emit! {
            let [#(#turns),*] = #rt::turns([#(#rt::turn(&#handles)),*]).await;
            #(
                let mut #guards = #rt::enter(&#handles, #turns);
                #[allow(unused_variables)]
                let #names = &mut *#guards;
            )*
        }
    })
}
