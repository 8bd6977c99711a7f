//! Result file of the Phoronix Test Suite (`composite.xml`): one `Result` per benchmark, with one `Entry` for the run.

use crate::exportable::{Exported, marked_id, valid_results};
use crate::xml::element;
use gritstone_model::{Better, RunData, RunView};

pub(super) fn write(_: &RunData, view: &RunView) -> Exported {
    let (results, left_out) = valid_results(view);
    let version = view.gritstone.as_deref().unwrap_or_default();
    let name = view.label.as_ref().unwrap_or(&view.id);
    let generated = [
        element("Title", name),
        element("LastModified", &view.started),
        element("TestClient", &format!("Gritstone {version}")),
        element("Description", "Benchmarks of Gritstone: estimates, with the value of each launch"),
    ];
    let system = [
        element("Identifier", name),
        element("Hardware", &view.machine.configuration),
        element("Software", &view.machine.system),
        element("User", ""),
        element("TimeStamp", &view.started),
        element("TestClientVersion", version),
        element("Notes", ""),
    ];
    let results = results.iter().map(|exported| {
        let result = exported.result;
        let proportion = match result.better {
            Better::Higher => "HIB",
            Better::Lower => "LIB",
        };
        let values: Vec<String> = result.values().iter().map(f64::to_string).collect();
        let entry = [
            element("Identifier", name),
            element("Value", &exported.estimate.to_string()),
            element("RawString", &values.join(":")),
        ];
        let parts = [
            element("Identifier", &format!("gritstone/{}-{}", result.id, result.version)),
            element("Title", &result.title),
            element("AppVersion", &result.version.to_string()),
            element("Arguments", result.id.as_str()),
            element("Description", &marked_id(result)),
            element("Scale", result.unit.as_str()),
            element("Proportion", proportion),
            element("DisplayFormat", "BAR_GRAPH"),
            format!("<Data><Entry>{}</Entry></Data>", entry.concat()),
        ];
        format!("<Result>{}</Result>\n", parts.concat())
    });
    let results: String = results.collect();
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PhoronixTestSuite>\n<Generated>{}</Generated>\n<System>{}</System>\n{results}</PhoronixTestSuite>\n",
        generated.concat(),
        system.concat()
    );
    Exported { text, left_out }
}
