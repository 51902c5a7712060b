//! What ends a run in the middle of a node or a fence: `?`, `return` and `skip!()`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Stmt};

use super::emit::{respan, rt};
use crate::lower::Graph;
use crate::traits::is_skip;

/// What a `?` ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// The run.
    Run,
    /// The run. `__own` knows the type of the error.
    Known,
    /// The attempt, with its own error.
    Attempt,
}

/// `operand?`, by way of a trait whose error message explains the rule.
pub(super) fn question(graph: &Graph, operand: TokenStream, span: Span) -> TokenStream {
    let rt = respan(rt(&graph.parsed), span);
    let output = respan(&graph.parsed.output, span);
    quote_spanned!(span=> #rt::question::<#output, _>(#operand)?)
}

/// As [`question`], in a node that a test may make fail.
fn known_question(graph: &Graph, operand: TokenStream, span: Span) -> TokenStream {
    let rt = respan(rt(&graph.parsed), span);
    let output = respan(&graph.parsed.output, span);
    let own = emit!(__own);
    quote_spanned!(span=> #rt::own_question::<#output, _>(#operand, &#own)?)
}

/// As [`question`], in an attempt: its error is that of the operand, without conversion.
fn attempt_question(operand: TokenStream, span: Span) -> TokenStream {
    let span = Span::mixed_site().located_at(span);
    quote_spanned! {span=>
        match #operand {
            ::core::result::Result::Ok(__value) => __value,
            ::core::result::Result::Err(__error) => return ::core::result::Result::Err(__error),
        }
    }
}

/// `skip!()`: the run of the item ends here.
fn skip() -> TokenStream {
    emit!(match __run.skip().await {})
}

/// Applies [`question`] to every `?` of the graph itself, and expands `skip!()`.
pub(super) struct Questions<'g> {
    pub(super) graph: &'g Graph,
    pub(super) ends: Ends,
}

impl VisitMut for Questions<'_> {
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(call) = stmt {
            if is_skip(&call.mac) {
                *stmt = Stmt::Expr(Expr::Verbatim(skip()), call.semi_token);
                return;
            }
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if matches!(expr, Expr::Macro(call) if is_skip(&call.mac)) {
            *expr = Expr::Verbatim(skip());
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Try(ended) = expr {
            let operand = ended.expr.to_token_stream();
            let span = ended.question_token.span();
            *expr = Expr::Verbatim(match self.ends {
                Ends::Run => question(self.graph, operand, span),
                Ends::Known => known_question(self.graph, operand, span),
                Ends::Attempt => attempt_question(operand, span),
            });
        }
    }

    // Closures, async blocks and items keep their own `?`.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Makes `return value` in a fence of a parallel run end the run, and not only the block of the
/// fence. It runs before [`Questions`], whose output hides the original code.
pub(super) struct Returns<'a> {
    pub(super) exit: &'a dyn Fn(TokenStream) -> TokenStream,
}

impl VisitMut for Returns<'_> {
    fn visit_expr_return_mut(&mut self, ret: &mut syn::ExprReturn) {
        visit_mut::visit_expr_return_mut(self, ret);
        let value = ret.expr.take().map_or(emit!(()), |value| emit!(#value));
        let exit = syn::parse2((self.exit)(value)).expect("an expression");
        ret.expr = Some(Box::new(exit));
    }

    // Closures, async blocks and items keep their own `return`.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
