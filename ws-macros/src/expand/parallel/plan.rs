//! The shape of a run: which nodes wait for which, where each node runs, and its limits.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned;

use crate::expand::emit::rt;
use crate::lower::Graph;
use crate::options::Options;

pub(super) fn number(step: usize) -> u32 {
    u32::try_from(step).unwrap_or(u32::MAX)
}

/// The shape of a run of the steps that `part` selects.
pub(super) fn plan(graph: &Graph, part: impl Fn(usize) -> bool) -> TokenStream {
    let parsed = &graph.parsed;
    let rt = rt(parsed);
    let name = &parsed.plain.sig.ident;
    let count = graph.steps().len();
    let mut needs = vec![0_u32; count];
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut first = Vec::new();
    for &step in graph.order.iter().filter(|&&step| part(step)) {
        let nearest = graph.nearest_needs(step);
        needs[step] = number(nearest.len());
        if nearest.is_empty() {
            first.push(number(step));
        }
        for need in nearest {
            next[need].push(number(step));
        }
    }
    let next = next.iter().map(|next| emit!(&[#(#next),*]));
    let limits = graph.limited().into_iter().filter_map(|step| {
        graph.steps()[step].options.limit.as_ref().map(|limit| {
            let message = "a limit of 0 would let no run past this node";
            quote_spanned!(limit.span()=> {
                const LIMIT: usize = #limit;
                const { ::core::assert!(LIMIT > 0, #message) };
                LIMIT
            })
        })
    });
    let places = graph.steps().iter().map(|step| match &step.options {
        Options {
            inline: Some(_), ..
        } => emit!(#rt::Place::Inline),
        Options { spawn: Some(_), .. } => emit!(#rt::Place::Spawn),
        _ => emit!(#rt::Place::Any),
    });
    emit! {
        static __PLAN: #rt::Plan<#count> = #rt::Plan {
            graph: &#name::GRAPH,
            needs: [#(#needs),*],
            next: [#(#next),*],
            first: &[#(#first),*],
            place: [#(#places),*],
            limits: &[#(#limits),*],
        };
    }
}
