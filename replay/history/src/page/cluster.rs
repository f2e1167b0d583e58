//! The page of a Namespace, with its quotas and limits.

use super::lines::{PageWriter, joined};
use super::surroundings::{NOT_RECORDED, Surroundings};
use crate::body_reader::QueryError;
use crate::columns::ObjectPart;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn namespace_page(
    page: &mut PageWriter,
    namespace: ObjectPart<'_>,
    around: Surroundings<'_>,
) -> Result<(), QueryError> {
    page.head(namespace);
    page.field(0, "Status", namespace.at("status.phase").text());
    let conditions = namespace.at("status.conditions");
    if conditions.items().len() > 0 {
        page.line(0, "Conditions:");
        page.titles(
            1,
            &["Type", "Status", "LastTransitionTime", "Reason", "Message"],
        );
    }
    let changed = "date lastTransitionTime";
    page.rows(
        conditions,
        &["type", "status", changed, "reason", "message"],
    );
    let name = namespace.name();
    page.line(0, "");
    match around.list("resourcequotas", &name)? {
        None => page.field(0, "Resource Quotas", NOT_RECORDED),
        Some(quotas) => quota_lines(page, &quotas),
    }
    page.line(0, "");
    match around.list("limitranges", &name)? {
        None => page.field(0, "Resource Limits", NOT_RECORDED),
        Some(ranges) => limit_lines(page, &ranges),
    }
    Ok(())
}

fn quota_lines(page: &mut PageWriter, quotas: &[Value]) {
    if quotas.is_empty() {
        return page.line(0, "No resource quota.");
    }
    page.line(0, "Resource Quotas");
    for quota in quotas.iter().map(ObjectPart::of) {
        page.field(1, "Name", quota.name());
        page.field_if(1, "Scopes", joined(quota.at("spec.scopes"), ", "));
        page.line(1, "Resource\tUsed\tHard");
        page.line(1, "--------\t---\t---");
        let mut hard: Vec<_> = quota.at("status.hard").members().collect();
        hard.sort_unstable_by_key(|(name, _)| *name);
        for (name, hard) in hard {
            let mut used = quota.at("status.used").members();
            let used = used.find(|(one, _)| *one == name);
            let used = used.map_or_else(String::new, |(_, used)| used.plain());
            page.line(1, format!("{name}\t{used}\t{}", hard.plain()));
        }
    }
}

fn limit_lines(page: &mut PageWriter, ranges: &[Value]) {
    const MEMBERS: [&str; 5] = [
        "min",
        "max",
        "defaultRequest",
        "default",
        "maxLimitRequestRatio",
    ];
    if ranges.is_empty() {
        return page.line(0, "No LimitRange resource.");
    }
    page.line(0, "Resource Limits");
    page.line(
        0,
        " Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio",
    );
    page.line(
        0,
        " ----\t--------\t---\t---\t---------------\t-------------\t-----------------------",
    );
    let limits = ranges
        .iter()
        .map(|range| ObjectPart::of(range).at("spec.limits"));
    for limit in limits.flat_map(ObjectPart::items) {
        let names = MEMBERS.iter().flat_map(|member| limit.at(member).members());
        let names: BTreeSet<&str> = names.map(|(name, _)| name).collect();
        for name in names {
            let mut cells = vec![format!(" {}", limit.at("type").text()), name.to_owned()];
            cells.extend(MEMBERS.map(|member| {
                let mut amounts = limit.at(member).members();
                let amount = amounts.find(|(one, _)| *one == name);
                amount.map_or_else(|| "-".to_owned(), |(_, amount)| amount.plain())
            }));
            page.cells(0, cells);
        }
    }
}
