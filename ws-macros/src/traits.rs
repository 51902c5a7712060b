//! What an expression does besides computing: awaiting, failing, returning.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Stmt};

/// What was found outside of closures, async blocks and items, which have their own.
#[derive(Clone, Default, Debug)]
pub(crate) struct Traits {
    /// There is an `.await`.
    pub(crate) awaits: bool,
    /// Where `?` is.
    pub(crate) questions: Vec<Span>,
    /// Some of them are in macros, which are not looked into again.
    pub(crate) hidden: bool,
    /// Where `return` is.
    pub(crate) returns: Vec<Span>,
    /// Where `skip!()` is.
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
        !self.questions.is_empty()
    }

    /// The only `?`, if it can be seen.
    pub(crate) fn only_question(&self) -> Option<Span> {
        match self.questions[..] {
            [question] if !self.hidden => Some(question),
            _ => None,
        }
    }

    /// Looks at the raw input of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(word) => self.awaits |= word == "await",
                TokenTree::Punct(punct) if punct.as_char() == '?' => {
                    self.questions.push(punct.span());
                    self.hidden = true;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// Whether a macro call is `skip!()`, which ends an item without a result. A macro of the
/// user's own by that name is called by a path.
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
        // `join!` and `select!` of all crates await; others do if they are seen to.
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
        self.tokens(mac.tokens.clone());
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
}
