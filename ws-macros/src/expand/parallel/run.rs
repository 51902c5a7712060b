//! The whole run, and the partial ones: `run`, `until_x`.

use proc_macro2::{Literal, TokenStream};
use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Pat, Type};

use super::plan::plan;
use super::signature::Signature;
use crate::expand::{quiet, rt};
use crate::lower::{Graph, Maker};
use crate::parse::Kind;

pub(super) fn run(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, vis) = (rt(parsed), &parsed.plain.vis);
    let Signature {
        mut generics,
        params,
        args,
    } = Signature::new(parsed);
    let output = &parsed.output;
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__D: #rt::DeadlineFor<#output>));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let plan = plan(graph, |_| true);
    emit! {
        /// Runs the graph: nodes whose inputs are ready run at the same time.
        ///
        /// Dropping the future cancels the run.
        ///
        /// # Panics
        /// With the panic of a node, after the others are cancelled; or if the executor
        /// was shut down.
        #vis fn run #impl_generics (self, #params) -> impl ::core::future::Future<Output = #output> + ::core::marker::Send
        #clause
        {
            #plan
            let __run = Self::__start(self.bound, &__PLAN, 0, #(#args),*);
            async move {
                match __run.await {
                    #rt::Ended::Exit(__result) => __result,
                    #rt::Ended::Late => <__D as #rt::DeadlineFor<#output>>::late(),
                    #rt::Ended::Complete(_) => #rt::no_result(),
                }
            }
        }
    }
}

/// The values of nodes with a written type, for which there is a partial run: those that
/// no statement with a `return` can keep from being computed.
pub(super) fn public(graph: &Graph) -> Vec<usize> {
    (0..graph.values.len())
        .filter(|&value| {
            let Maker::Step(maker) = graph.values[value].maker else {
                return false;
            };
            let Kind::Node(node) = &graph.steps()[maker].kind else {
                return false;
            };
            let returns = (0..graph.steps().len()).any(|step| {
                graph.ancestors[maker][step] && !graph.steps()[step].traits.returns.is_empty()
            });
            node.ty.is_some() && matches!(node.pat, Pat::Ident(_)) && !returns
        })
        .collect()
}

pub(super) fn until(graph: &Graph, value: usize) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, vis) = (rt(parsed), &parsed.plain.vis);
    let (Maker::Step(maker), Some(ty)) = (graph.values[value].maker, written_type(graph, value))
    else {
        return TokenStream::new();
    };
    let name = graph.values[value].name.unraw();
    let method = format_ident!("until_{name}", span = graph.values[value].name.span());
    let output = &parsed.output;
    let result = if parsed.fallible() {
        emit!(<#output as #rt::Outcome>::With<#ty>)
    } else {
        emit!(#ty)
    };
    let Signature {
        mut generics,
        params,
        args,
    } = Signature::new(parsed);
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__D: #rt::DeadlineFor<#result>));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let plan = plan(graph, |step| step == maker || graph.ancestors[maker][step]);
    let place = public(graph)
        .iter()
        .position(|&other| other == value)
        .map(Literal::usize_unsuffixed);
    let number = target(value);
    let (exit, wrap) = if parsed.fallible() {
        (
            emit!(#rt::early::<#output, #ty>(__result)),
            emit!(<#output as #rt::Outcome>::wrap(__value)),
        )
    } else {
        (emit!(#rt::no_value(__result)), emit!(__value))
    };
    let doc = format!("Runs only what `{name}` needs, and returns its value.");
    emit! {
        #[doc = #doc]
        #vis fn #method #impl_generics (self, #params) -> impl ::core::future::Future<Output = #result> + ::core::marker::Send
        #clause
        {
            #plan
            let __run = Self::__start(self.bound, &__PLAN, #number, #(#args),*);
            async move {
                match __run.await {
                    #rt::Ended::Exit(__result) => #exit,
                    #rt::Ended::Late => <__D as #rt::DeadlineFor<#result>>::late(),
                    #rt::Ended::Complete(__picked) => match __picked.#place {
                        ::core::option::Option::Some(__value) => #wrap,
                        ::core::option::Option::None => #rt::no_result(),
                    },
                }
            }
        }
    }
}

/// The nodes for which a partial run lacks only a written type.
pub(super) fn untyped(graph: &Graph) -> Vec<usize> {
    (0..graph.values.len())
        .filter(|&value| {
            let Maker::Step(maker) = graph.values[value].maker else {
                return false;
            };
            let name = graph.values[value].name.to_string();
            let Kind::Node(node) = &graph.steps()[maker].kind else {
                return false;
            };
            node.ty.is_none() && matches!(node.pat, Pat::Ident(_)) && !name.starts_with('_')
        })
        .collect()
}

/// A method that says why it is not there: a trait that nobody implements, and a hidden
/// method that demands it.
pub(super) fn trap(graph: &Graph, value: usize) -> (TokenStream, TokenStream) {
    let parsed = &graph.parsed;
    let name = graph.values[value].name.unraw();
    let method = format_ident!("until_{name}");
    let function = parsed.plain.sig.ident.unraw();
    let guard = format_ident!("__{function}_until_{name}");
    let message = format!("there is no `until_{name}`: the type of node `{name}` is not written");
    let label = format!("write it: `let {name}: Type = …;`");
    let Signature {
        mut generics,
        params,
        ..
    } = Signature::new(parsed);
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__S: #guard));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let quiet = quiet();
    let definition = emit! {
        #[doc(hidden)]
        #quiet
        #[allow(non_camel_case_types)]
        #[diagnostic::on_unimplemented(message = #message, label = #label)]
        pub trait #guard {}
    };
    let method = emit! {
        #[doc(hidden)]
        pub fn #method #impl_generics (self, #params) -> ::core::future::Ready<()> #clause {
            ::core::unreachable!()
        }
    };
    (definition, method)
}

pub(super) fn written_type(graph: &Graph, value: usize) -> Option<&Type> {
    match graph.values[value].maker {
        Maker::Step(step) => match &graph.steps()[step].kind {
            Kind::Node(node) => node.ty.as_ref(),
            _ => None,
        },
        Maker::Input(_) => None,
    }
}

/// The number of a partial run; 0 is the whole one.
pub(super) fn target(value: usize) -> u32 {
    u32::try_from(value + 1).unwrap_or(u32::MAX)
}
