//! What the Containerfile says, without building it: `.ci/image` builds and tries it.

use anyhow::{Result, ensure};

use crate::deploy::of_project;

#[test]
fn the_image_is_for_any_user_and_any_base() -> Result<()> {
    let text = std::fs::read_to_string(of_project("Containerfile"))?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let has = |start: &str| {
        lines
            .iter()
            .any(|line| line.trim_start().starts_with(start))
    };
    for needed in [
        "ARG BASE=",
        "FROM ${BASE}",
        "LABEL org.opencontainers.image.title=",
        "org.opencontainers.image.licenses=\"Apache-2.0\"",
        "COPY --chmod=0755 kubereel /usr/local/bin/kubereel",
        "ENTRYPOINT [\"/usr/local/bin/kubereel\"]",
    ] {
        ensure!(has(needed), "no {needed}");
    }
    let user = lines.iter().find_map(|line| line.strip_prefix("USER "));
    ensure!(
        user == Some("1000650000:0"),
        "{user:?} is no arbitrary user of group 0"
    );
    ensure!(!has("RUN"), "a step that runs needs the base's tools");
    Ok(())
}
