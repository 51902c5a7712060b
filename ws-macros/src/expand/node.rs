//! The code of one node: its inputs, its expression, its options.

use std::collections::HashSet;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Pat, Stmt, Token};

use super::rt;
use crate::lower::Graph;
use crate::names::{Position, walk_expr, walk_stmt};
use crate::options::Options;
use crate::parse::{Kind, Node};
use crate::traits::Traits;

/// The values that a step sees behind a reference: those that it does not move, and all
/// if it may be tried again. Inputs that are `#[shared]` are references already.
pub(super) fn lent(graph: &Graph, step: usize) -> HashSet<Ident> {
    let again = graph.steps()[step].options.retry.is_some();
    graph
        .inputs_of(step)
        .into_iter()
        .filter(|&value| !graph.is_shared_input(value))
        .filter(|&value| again || graph.values[value].mover != Some(step))
        .map(|value| graph.values[value].name.clone())
        .collect()
}

/// Replaces the uses of values that are lent by what they borrow: `order` is bound to a
/// reference, and `order` in the expression means the value, so it becomes `*order`.
fn lend(name: &Ident, lent: &HashSet<Ident>) -> Option<Expr> {
    let span = name.span();
    lent.contains(name)
        .then(|| syn::parse2(quote_spanned!(span=> *#name)).expect("an expression"))
}

/// An expression as it is compiled: names in `lent` are references, and `?` says in our
/// words what it cannot convert.
pub(super) fn expr(graph: &Graph, expr: &Expr, lent: &HashSet<Ident>) -> Expr {
    let mut expr = expr.clone();
    if !lent.is_empty() {
        walk_expr(&mut expr, &mut |name: &Ident, _: Position| lend(name, lent));
    }
    Questions { graph }.visit_expr_mut(&mut expr);
    expr
}

/// The same for a statement.
pub(super) fn stmt(graph: &Graph, stmt: &Stmt, lent: &HashSet<Ident>) -> Stmt {
    let mut stmt = stmt.clone();
    if !lent.is_empty() {
        walk_stmt(&mut stmt, &mut |name: &Ident, _: Position| lend(name, lent));
    }
    Questions { graph }.visit_stmt_mut(&mut stmt);
    stmt
}

/// Where the code of a node stands.
pub(super) struct Env {
    site: TokenStream,
    limit: Option<TokenStream>,
    /// What a test says about this node, if that can be.
    scripted: Option<TokenStream>,
    /// Graphs that are called with the option `graph` run on the executor of this run.
    sub_runs: bool,
}

impl Env {
    /// In the function itself.
    pub(super) fn plain(graph: &Graph) -> Self {
        let rt = rt(&graph.parsed);
        Self {
            site: emit!(#rt::Site::plain()),
            limit: None,
            scripted: None,
            sub_runs: false,
        }
    }

    /// In a parallel run.
    pub(super) fn parallel(graph: &Graph, index: usize, limit: Option<TokenStream>) -> Self {
        let scripted = match &graph.steps()[index].kind {
            Kind::Node(Node {
                ty: Some(ty),
                pat: Pat::Ident(_),
                ..
            }) => Some(emit!(__ctx.scripted::<#ty>(#index))),
            _ => None,
        };
        Self {
            site: emit!(__ctx.site(#index)),
            limit,
            scripted,
            sub_runs: true,
        }
    }

    /// `code`, or what a test says, `how` that becomes one.
    fn unless_scripted(&self, code: TokenStream, how: &TokenStream) -> TokenStream {
        match &self.scripted {
            Some(scripted) => emit! {
                match #scripted {
                    ::core::option::Option::Some(__scripted) => __scripted.#how(),
                    ::core::option::Option::None => #code,
                }
            },
            None => code,
        }
    }
}

/// The value of a node, options and all, for use inside of an async block.
pub(super) fn value(graph: &Graph, index: usize, env: &Env) -> TokenStream {
    let step = &graph.steps()[index];
    let Kind::Node(Node { expr: written, .. }) = &step.kind else {
        return TokenStream::new();
    };
    let lent = lent(graph, index);
    let mut written = written.clone();
    if env.sub_runs && step.options.graph.is_some() {
        SubRun.visit_expr_mut(&mut written);
    }
    if step.options.attempts() {
        return attempts(graph, &step.options, &written, &lent, env);
    }
    let expr = unlimited(graph, &written, &lent, env);
    match &env.limit {
        Some(limit) => emit!({ let __permit = #limit.acquire().await; #expr }),
        None => expr,
    }
}

/// The value of a node without options.
fn unlimited(graph: &Graph, written: &Expr, lent: &HashSet<Ident>, env: &Env) -> TokenStream {
    match written {
        Expr::Try(last) if env.scripted.is_some() => {
            let operand = expr(graph, &last.expr, lent).into_token_stream();
            let operand = env.unless_scripted(operand, &emit!(result));
            question(graph, operand, &last.question_token)
        }
        _ => {
            let whole = expr(graph, written, lent).into_token_stream();
            env.unless_scripted(whole, &emit!(value))
        }
    }
}

/// Makes `other(…).await` a run on the executor of this run.
struct SubRun;

impl VisitMut for SubRun {
    fn visit_expr_await_mut(&mut self, expr: &mut syn::ExprAwait) {
        if let Expr::Call(call) = &*expr.base {
            let (path, args) = (&call.func, &call.args);
            let run = emit! {
                #path::on(__ctx.spawner()).__within(__ctx.bound()).run(#args)
            };
            *expr.base = syn::parse2(run).expect("an expression");
        }
    }
}

fn attempts(
    graph: &Graph,
    options: &Options,
    written: &Expr,
    lent: &HashSet<Ident>,
    env: &Env,
) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let span = written.span();
    let failed = emit!(::core::result::Result::Err::<::core::convert::Infallible, _>(__error));
    // What fails and is tried again is the operand of the last `?`, with its own error;
    // if there is more than that one, it is the whole expression with the graph's error.
    let (attempt, error) = match written {
        Expr::Try(last) if !Traits::of_expr(&last.expr).fails() => {
            let operand = expr(graph, &last.expr, lent).into_token_stream();
            let operand = env.unless_scripted(operand, &emit!(result));
            (operand, question(graph, failed, &last.question_token))
        }
        _ => {
            let whole = expr(graph, written, lent);
            if Traits::of_expr(written).fails() {
                {
                    let whole = emit!(<#output as #rt::Outcome>::wrap(#whole));
                    (env.unless_scripted(whole, &emit!(result)), emit!(#failed?))
                }
            } else {
                let never = emit!(::core::convert::Infallible);
                {
                    let whole = emit!(::core::result::Result::Ok::<_, #never>(#whole));
                    (env.unless_scripted(whole, &emit!(result)), emit!(__error))
                }
            }
        }
    };
    let late = match &options.timeout {
        Some(timeout) => {
            let output = respan(output, timeout.span);
            let late = emit!(__late);
            quote_spanned!(timeout.span=> #rt::late::<#output>(#late)?)
        }
        None => emit!(#rt::never_late(__late)),
    };
    let failed = match &options.fallback {
        Some(fallback) => {
            let fallback = expr(graph, fallback, lent);
            emit!(::core::result::Result::Err(_) => #fallback)
        }
        None => emit! {
            ::core::result::Result::Err(#rt::Failure::Error(__error)) => match #error {},
            ::core::result::Result::Err(#rt::Failure::TimedOut(__late)) => match #late {},
        },
    };
    let (retry, when) = retry(&rt, options);
    let timeout = match &options.timeout {
        Some(timeout) => {
            let duration = &timeout.duration;
            emit!(::core::option::Option::Some(#duration))
        }
        None => emit!(::core::option::Option::None),
    };
    let attempt = quote_spanned!(span=> || async { #attempt });
    let site = &env.site;
    let limit = match &env.limit {
        Some(limit) => emit!(::core::option::Option::Some(#limit)),
        None => emit!(::core::option::Option::None),
    };
    emit! {
        match #rt::attempts(#site, #retry, #timeout, #limit, #when, #attempt).await {
            ::core::result::Result::Ok(__value) => __value,
            #failed
        }
    }
}

/// Tokens with another span, for errors that are about what stands there.
fn respan(tokens: impl ToTokens, span: Span) -> TokenStream {
    tokens
        .into_token_stream()
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = Group::new(group.delimiter(), respan(group.stream(), span)).into();
            }
            token.set_span(span);
            token
        })
        .collect()
}

fn retry(rt: &TokenStream, options: &Options) -> (TokenStream, TokenStream) {
    let Some(retry) = &options.retry else {
        return (emit!(#rt::Retry::NEVER), emit!(|_: &_| false));
    };
    let retries = &retry.retries;
    let zero = emit!(::core::time::Duration::ZERO);
    let (pause, longest) = retry.backoff.clone().unwrap_or((zero.clone(), zero));
    let when = match &retry.when {
        Some(when) => emit!(#when),
        None => emit!(|_: &_| true),
    };
    (
        emit!(#rt::Retry { retries: #retries, pause: #pause, longest: #longest }),
        when,
    )
}

/// `operand?`, by way of a trait that explains itself.
fn question(graph: &Graph, operand: TokenStream, question: &Token![?]) -> TokenStream {
    let span = question.spans[0];
    let rt = respan(rt(&graph.parsed), span);
    let output = respan(&graph.parsed.output, span);
    quote_spanned!(span=> #rt::question::<#output, _>(#operand)#question)
}

/// Applies [`question`] to every `?` of the graph's own.
struct Questions<'g> {
    graph: &'g Graph,
}

impl VisitMut for Questions<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Try(ended) = expr {
            let operand = &ended.expr;
            let tokens = question(self.graph, emit!(#operand), &ended.question_token);
            *expr = Expr::Verbatim(tokens);
        }
    }

    // Their `?`s are their own.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Makes `return value` in a fence of a parallel run end the run, and not only the block
/// that the fence is compiled to.
pub(super) struct Returns<'a> {
    pub(super) exit: &'a dyn Fn(TokenStream) -> TokenStream,
}

impl VisitMut for Returns<'_> {
    fn visit_expr_return_mut(&mut self, ret: &mut syn::ExprReturn) {
        visit_mut::visit_expr_return_mut(self, ret);
        let value = ret.expr.take().map_or(emit!(()), |value| emit!(#value));
        let exit = (self.exit)(value);
        ret.expr = Some(Box::new(Expr::Verbatim(exit)));
    }

    // Their `return`s are their own.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
