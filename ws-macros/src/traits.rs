//! What an expression does besides computing: it awaits, fails, returns.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Stmt};

use crate::macros::{self, Shape};

/// What was found in an expression. Closures, async blocks and items are left out: their
/// `.await`, `?` and `return` are their own.
#[derive(Clone, Default, Debug)]
pub(crate) struct Traits {
    /// There is an `.await`.
    pub(crate) awaits: bool,
    /// The positions of `?`.
    pub(crate) questions: Vec<Span>,
    /// Some of them are in macros, where the expansion does not replace them.
    pub(crate) hidden: bool,
    /// There may be a `?` in a macro whose input is not expressions.
    pub(crate) may_fail: bool,
    /// The positions of `return`.
    pub(crate) returns: Vec<Span>,
    /// The positions of `skip!()`.
    pub(crate) skips: Vec<Span>,
}

impl Traits {
    pub(crate) fn of_expr(expr: &Expr) -> Self {
        let mut traits = Self::default();
        traits.visit_expr(expr);
        traits
    }

    pub(crate) fn of_stmt(stmt: &Stmt) -> Self {
        let mut traits = Self::default();
        traits.visit_stmt(stmt);
        traits
    }

    /// Whether `?` may end the run here.
    pub(crate) fn fails(&self) -> bool {
        !self.questions.is_empty() || self.may_fail
    }

    /// The only `?`, if there is one and it is visible.
    pub(crate) fn only_question(&self) -> Option<Span> {
        match self.questions[..] {
            [question] if !self.hidden && !self.may_fail => Some(question),
            _ => None,
        }
    }

    /// Reads an expression inside a macro.
    fn look(&mut self, expr: &Expr) {
        let inside = Self::of_expr(expr);
        self.awaits |= inside.awaits;
        self.may_fail |= inside.may_fail;
        self.hidden |= !inside.questions.is_empty();
        self.questions.extend(inside.questions);
    }

    /// Reads the raw input of a macro. A `?` without an operand before it is not an operator.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut operand = false;
        let mut own = false;
        for token in tokens {
            match &token {
                TokenTree::Group(group) if own && group.delimiter() == Delimiter::Brace => {}
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(word) => self.awaits |= word == "await",
                TokenTree::Punct(punct) if punct.as_char() == '?' => self.may_fail |= operand,
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            own = match &token {
                TokenTree::Ident(word) => word == "async" || (own && word == "move"),
                _ => false,
            };
            operand = match &token {
                TokenTree::Punct(punct) => punct.as_char() == '?',
                TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => true,
            };
        }
    }
}

/// Whether a macro call is `skip!()`, which ends an item without a result. A user's macro of
/// that name must be called by a path.
pub(crate) fn is_skip(mac: &syn::Macro) -> bool {
    mac.path.is_ident("skip") && mac.tokens.is_empty()
}

impl<'ast> Visit<'ast> for Traits {
    fn visit_expr_await(&mut self, expr: &'ast syn::ExprAwait) {
        self.awaits = true;
        visit::visit_expr_await(self, expr);
    }

    fn visit_expr_try(&mut self, expr: &'ast syn::ExprTry) {
        self.questions.push(expr.question_token.span());
        visit::visit_expr_try(self, expr);
    }

    fn visit_expr_return(&mut self, expr: &'ast syn::ExprReturn) {
        self.returns.push(expr.return_token.span());
        visit::visit_expr_return(self, expr);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if is_skip(mac) {
            self.skips.push(mac.path.span());
            return;
        }
        // `join!` and `select!` of all crates await. Other macros do if an `.await` is visible.
        let name = mac
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string());
        let awaits = [
            "join",
            "try_join",
            "select",
            "select_biased",
            "pending",
            "poll",
        ];
        self.awaits |= name.is_some_and(|name| awaits.contains(&name.as_str()));
        match macros::read(mac).shape {
            Shape::Text => {}
            Shape::List(list) => list.items.iter().for_each(|item| self.look(item)),
            Shape::Repeat(item, _, count) => {
                self.look(&item);
                self.look(&count);
            }
            Shape::Matches(matches) => {
                self.look(&matches.value);
                if let Some((_, guard)) = &matches.guard {
                    self.look(guard);
                }
                matches
                    .message
                    .items
                    .iter()
                    .for_each(|item| self.look(item));
            }
            Shape::Tokens => self.tokens(mac.tokens.clone()),
        }
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

#[cfg(test)]
mod tests {
    use super::Traits;
    use syn::parse_quote;

    #[test]
    fn what_closures_and_async_blocks_do_is_theirs() {
        let traits = Traits::of_expr(&parse_quote!(f(|| { return g()? }, async { x.await? })));
        assert!(!traits.awaits && !traits.fails() && traits.returns.is_empty());
        let traits = Traits::of_expr(&parse_quote!(match x.await? {
            y => {
                return y;
            }
        }));
        assert!(traits.awaits && traits.fails() && traits.returns.len() == 1);
        let traits = Traits::of_expr(&parse_quote!(vec![a?, b.await]));
        assert!(traits.awaits && traits.fails());
        assert!(!Traits::of_expr(&parse_quote!(format!("{x:?}"))).fails());
    }

    #[test]
    fn a_question_mark_in_a_macro_may_be_something_else() {
        let sure: syn::Expr = parse_quote!(println!("{}", a?));
        assert_eq!(Traits::of_expr(&sure).questions.len(), 1);
        for never in [
            parse_quote!(info!(?order, "got it")),
            parse_quote!(info!(a = 1, b = ?order, ?c)),
            parse_quote!(join!(async { a.await? }, f(|| b?))),
            parse_quote!(select! { a = async move { b? } => a }),
        ] {
            assert!(!Traits::of_expr(&never).fails());
        }
        let perhaps = Traits::of_expr(&parse_quote!(select! { a = b => a? }));
        assert!(perhaps.fails() && perhaps.questions.is_empty());
    }
}
