//! Owns whether a file has a test of some name. Refuses to run it.

/// Whether a source text has a test function of this name.
pub fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let begins = [format!("fn {name}("), format!("async fn {name}(")];
    let is_it = |line: &str| begins.iter().any(|begin| line.starts_with(begin.as_str()));
    let Some(place) = lines.iter().position(|line| is_it(line)) else {
        return false;
    };
    let above = lines.iter().take(place).rev();
    let mut attributes = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    attributes.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}

#[cfg(test)]
mod tests {
    use super::is_test;

    #[test]
    fn tests_are_told_from_other_functions() {
        let source = "
            /// Words.
            #[test]
            fn one() {}

            fn two() {}

            #[tokio::test(flavor = \"multi_thread\")]
            async fn three() -> Result<()> {}

            // fn four()
        ";
        for (name, expected) in [
            ("one", true),
            ("two", false),
            ("three", true),
            ("four", false),
        ] {
            assert_eq!(is_test(source, name), expected, "{name}");
        }
        assert!(!is_test(source, "on"));
    }
}
