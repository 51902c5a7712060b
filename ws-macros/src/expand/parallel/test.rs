//! Runs under test: `test`.

use proc_macro2::TokenStream;
use syn::Pat;
use syn::ext::IdentExt;

use super::plan::plan;
use super::signature::{Signature, unspeakable};
use crate::expand::emit::{quiet, rt};
use crate::lower::Graph;
use crate::parse::{Kind, Node};

/// The methods of a run under test: one for each node with a written type, and `run`.
pub(super) fn test(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, vis, name, quiet) = (
        rt(parsed),
        &parsed.plain.vis,
        &parsed.plain.sig.ident,
        quiet(),
    );
    let krate = &parsed.args.krate;
    let output = &parsed.output;
    let scripts = scripts(graph);
    let Signature {
        generics,
        params,
        args,
    } = Signature::new(parsed);
    let (impl_generics, _, clause) = generics.split_for_impl();
    let plan = plan(graph, |_| true);
    emit! {
        #quiet
        impl<__S> #name::Test<__S>
        where
            __S: #rt::Spawn + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
        {
            #(#scripts)*

            /// Runs the graph, with virtual time.
            ///
            /// # Panics
            /// With the panic of a node.
            #vis fn run #impl_generics (self, #params) -> impl ::core::future::Future<
                Output = #krate::graph::testing::Report<#output>
            > + ::core::marker::Send
            #clause
            {
                #plan
                self.run.run(&#name::GRAPH, move |__bound| async move {
                    match #name::On::<#rt::Tracking<__S>>::__start(__bound, &__PLAN, 0, #(#args),*).await {
                        #rt::Ended::Exit(__result) => __result,
                        #rt::Ended::Late | #rt::Ended::Complete(_) => #rt::no_result(),
                    }
                })
            }
        }
    }
}

/// A method for each node with a written type, which sets its script.
pub(super) fn scripts(graph: &Graph) -> impl Iterator<Item = TokenStream> {
    let parsed = &graph.parsed;
    let (vis, krate) = (&parsed.plain.vis, &parsed.args.krate);
    graph
        .steps()
        .iter()
        .enumerate()
        .filter_map(move |(index, step)| {
            let Kind::Node(Node {
                pat: Pat::Ident(pat),
                ty: Some(ty),
                ..
            }) = &step.kind
            else {
                return None;
            };
            // The types of a generic function are known only where it is run.
            if parsed.plain.sig.generics.type_params().next().is_some()
                || pat.ident == "run"
                || unspeakable(parsed, ty).is_some()
                || graph.binder(&pat.ident) != Some(index)
            {
                return None;
            }
            let method = &pat.ident;
            let doc = format!("What node `{}` does instead of its own.", method.unraw());
            Some(emit! {
                #[doc = #doc]
                #vis fn #method(
                    self,
                    script: impl ::core::convert::Into<#krate::graph::testing::Script<#ty>>,
                ) -> Self {
                    Self { run: self.run.with(#index, script.into()) }
                }
            })
        })
}
