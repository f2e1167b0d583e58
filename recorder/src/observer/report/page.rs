//! The summary as a page that Prow's Spyglass shows.
//!
//! Spyglass pastes the page into an `iframe srcdoc` and escapes nothing but double quotes, so each character
//! reference of the page is decoded once more than the author meant: escaped text becomes live elements, in
//! a frame that has the origin of the CI's own site. Invariants against that:
//!
//! * words of the job, the cluster and the server are in the page as base64 only, which has no letter that
//!   markup knows, and a constant script shows them with `textContent`;
//! * title and description, which Spyglass pastes unescaped, are constant;
//! * the page has no `&`, so that one more round of decoding changes nothing.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::borrow::Cow;

const TEMPLATE: &str = include_str!("page.html");

/// The most text in a page, in bytes: Prow holds the whole page in memory for each view.
const TEXT_BYTES: usize = 2_000_000;

/// Makes the page of a summary that is also in the file of this name, beside the page.
pub(in crate::observer) fn page(summary: &str, file_name: &str) -> String {
    let shown = match summary.split_at(summary.floor_char_boundary(TEXT_BYTES)) {
        (all, "") => Cow::Borrowed(all),
        (shown, _) => Cow::Owned(format!("{shown}\n\nThe rest is in {file_name}.\n")),
    };
    TEMPLATE
        .replace("@SUMMARY@", file_name)
        .replace("@DATA@", &BASE64_STANDARD.encode(shown.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "kubereel-20261122-033000-summary.txt";

    /// Takes the base64 out of a page.
    fn text_of(page: &str) -> String {
        let (_, data) = page.split_once("id=\"kubereel-data\">").expect("data");
        let (data, _) = data.split_once("</script>").expect("an end");
        String::from_utf8(BASE64_STANDARD.decode(data).expect("base64")).expect("UTF-8")
    }

    #[test]
    fn nothing_of_the_text_is_markup_however_often_it_is_decoded() {
        let hostile =
            "</script></pre><script>x</script>\u{0}&lt;b&gt; &amp;lt; é 日本 @SUMMARY@ @DATA@";
        let (page, empty) = (page(hostile, NAME), page("", NAME));
        assert_eq!(text_of(&page), hostile);
        let data = BASE64_STANDARD.encode(hostile);
        assert_eq!(page.replace(&data, ""), empty, "the rest is constant");
        assert!(!page.contains('&'), "a character reference");
    }

    #[test]
    fn title_and_description_are_where_prow_looks_for_them() {
        let page = page("x", NAME);
        let (head, _) = page.split_once("<body>").expect("a body");
        assert!(head.len() < 64 * 1024);
        assert!(head.contains("<title>kubereel: "), "{head}");
        assert!(head.contains("<meta name=\"description\""), "{head}");
        assert!(
            page.contains(NAME),
            "a page without scripts says where to look"
        );
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_and_says_so() {
        let page = page(&"é".repeat(TEXT_BYTES), NAME);
        assert!(page.len() < 3_000_000, "{}", page.len());
        assert!(text_of(&page).ends_with(&format!("é\n\nThe rest is in {NAME}.\n")));
    }
}
