//! The recorder as users run it, beside its baselines in the same run: how many events a second one
//! core takes in, how large the finished file is, how much memory it had at once.
//!
//! `cargo bench -p kubereel-tests --bench recorder`. Other work on the machine is not in the
//! numbers: times are times on a processor, and memory is the process's own.
//! `KUBEREEL_BENCH_EVENTS` and `KUBEREEL_BENCH_RUNS` ask for other than the usual counts.
//!
//! What the recorder is compared with: parsing every line into a `serde_json::Value`, and `zstd -19
//! --long=27` over the exported lines.
//!
//! The writes of a busy cluster: Pods with managed fields, Leases, Events, of the sizes that real
//! ones have. It does not handle randomness it could not repeat.
//!
//! The third table: the recorder's most memory with a large cluster alive, for both ways of listing
//! it.
//!
//! A recorder that is measured: its time on processors and its most memory, to its very end. It
//! does not guess: where the system does not report it, the run fails.
//!
//! The first table: events a second on one core, from the socket to the file.
//!
//! The second table: bytes for each event of finished files.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Reel, Seq};
use kubereel_tests::recording::{Recording, settle};
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster, WatchList};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A number the caller may ask for.
fn asked(name: &str, usual: u64) -> Result<u64> {
    match std::env::var(name) {
        Ok(count) => count.parse().with_context(|| format!("{name}={count}")),
        Err(_) => Ok(usual),
    }
}

fn main() -> Result<()> {
    let events = asked("KUBEREEL_BENCH_EVENTS", 100_000)?;
    let runs = asked("KUBEREEL_BENCH_RUNS", 3)?;
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("churn.reel");
    show_rates(&reel, events, runs)?;
    println!();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    show_sizes(&[("generated", &reel), ("demo.reel", &demo)])?;
    println!();
    show_memory()
}

/// The lines of a reel as the server sent them on its watches.
pub(crate) fn watch_lines(reel: &Path) -> Result<Vec<Vec<u8>>> {
    let reel = Reel::open(reel)?;
    let lines = reel.scan(Seq(0)).map(|event| {
        let event = event?;
        let mut line = format!(r#"{{"type":"{}","object":"#, event.head.kind.as_str()).into_bytes();
        line.extend_from_slice(&event.body);
        line.push(b'}');
        Ok(line)
    });
    lines.collect()
}

/// The time on a processor that parsing all the lines takes.
pub(crate) fn parsing(lines: &[Vec<u8>]) -> Result<Duration> {
    let started = own_cpu()?;
    for line in lines {
        let value: Value = serde_json::from_slice(line)?;
        std::hint::black_box(&value);
    }
    Ok(own_cpu()?.saturating_sub(started))
}

/// What the export of a reel weighs, and what `zstd -19 --long=27` makes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exported {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    pub(crate) compressed_bytes: u64,
}

/// Compresses what `kubereel export` writes.
pub(crate) fn exported(reel: &Path) -> Result<Exported> {
    let mut export = Command::new(kubereel_tests::recording::program()?)
        .arg("export")
        .arg(reel)
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = export.stdout.take().context("no pipe")?;
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 19)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(27)?;
    let mut reader = BufReader::new(stdout);
    let (mut line, mut events, mut bytes) = (Vec::new(), 0, 0);
    while reader.read_until(b'\n', &mut line)? > 0 {
        encoder.write_all(&line)?;
        events += 1;
        bytes += u64::try_from(line.len())?;
        line.clear();
    }
    let status = export.wait()?;
    anyhow::ensure!(status.success(), "export: {status}");
    Ok(Exported {
        events,
        bytes,
        compressed_bytes: u64::try_from(encoder.finish()?.len())?,
    })
}

/// The storages written to.
pub(crate) const STORAGES: [&str; 3] = ["pods", LEASES, "events"];

const LEASES: &str = "leases.coordination.k8s.io";
const PODS: u64 = 2_000;
const LEASE_HOLDERS: u64 = 200;

/// Makes one write a call: of ten, four go to Pods, three to Leases, three to Events.
#[derive(Debug)]
pub(crate) struct Life {
    step: u64,
    random: u64,
}

impl Life {
    pub(crate) fn new() -> Self {
        Self {
            step: 0,
            random: 0x2545_f491_4f6c_dd1d,
        }
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit
    }

    /// Writes to the cluster once; says to which storage.
    pub(crate) fn step(&mut self, cluster: &ScriptedCluster) -> Result<&'static str> {
        self.step += 1;
        let [pods, leases, events] = STORAGES;
        match self.step % 10 {
            0..4 => {
                let number = self.below(PODS);
                self.put_pod(cluster, number)?;
                Ok(pods)
            }
            4..7 => {
                self.put_lease(cluster)?;
                Ok(leases)
            }
            _ => {
                self.put_event(cluster)?;
                Ok(events)
            }
        }
    }

    /// Creates or changes a Pod of 4 to 10 kB: as many containers as its number says.
    pub(crate) fn put_pod(&mut self, cluster: &ScriptedCluster, number: u64) -> Result<()> {
        let containers = 1 + number % 3;
        let (at, step) = (self.time(), self.step);
        let restarts = self.below(5);
        let ready = if self.below(4) == 0 { "False" } else { "True" };
        let node = number % 50;
        let app = number % 40;
        let metadata = format!(
            r#""generateName":"app-{app}-{app:08x}-","labels":{{"app":"app-{app}","pod-template-hash":"{app:08x}"}},"annotations":{{"k8s.ovn.org/pod-networks":"{{\"default\":{{\"ip_addresses\":[\"10.128.{node}.{}/23\"],\"mac_address\":\"0a:58:0a:80:{:02x}:{:02x}\"}}}}"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"app-{app}-{app:08x}","uid":"{app:08x}-1111-4222-8333-444444444444","controller":true,"blockOwnerDeletion":true}}],"managedFields":[{}]"#,
            number % 250,
            node,
            number % 250,
            managed_fields(containers, &at)
        );
        let specs: Vec<String> = (0..containers).map(|nth| container(number, nth)).collect();
        let statuses: Vec<String> = (0..containers)
            .map(|nth| container_status(number, nth, restarts, ready == "True", &at))
            .collect();
        let members = format!(
            r#""spec":{{"volumes":[{{"name":"kube-api-access","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}},{{"configMap":{{"name":"kube-root-ca.crt","items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}}],"defaultMode":420}}}}],"containers":[{}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","nodeName":"node-{node}","securityContext":{{}},"schedulerName":"default-scheduler","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"}},"status":{{"phase":"Running","conditions":[{{"type":"PodReadyToStartContainers","status":"True","lastProbeTime":null,"lastTransitionTime":"{at}"}},{{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"{at}"}},{{"type":"Ready","status":"{ready}","lastProbeTime":null,"lastTransitionTime":"{at}"}},{{"type":"ContainersReady","status":"{ready}","lastProbeTime":null,"lastTransitionTime":"{at}"}},{{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"{at}"}}],"hostIP":"192.0.2.{node}","podIP":"10.128.{node}.{}","startTime":"{at}","containerStatuses":[{}],"qosClass":"Burstable","observedGeneration":{step}}}"#,
            specs.join(","),
            number % 250,
            statuses.join(",")
        );
        let name = format!("app-{app}-{app:08x}-{number:05}");
        cluster.put_with_metadata("pods", "apps", &name, &metadata, &members)?;
        Ok(())
    }

    fn put_lease(&mut self, cluster: &ScriptedCluster) -> Result<()> {
        let holder = self.below(LEASE_HOLDERS);
        let at = self.time();
        let metadata = format!(
            r#""managedFields":[{{"manager":"kubelet","operation":"Update","apiVersion":"coordination.k8s.io/v1","time":"{at}","fieldsType":"FieldsV1","fieldsV1":{{"f:spec":{{"f:holderIdentity":{{}},"f:leaseDurationSeconds":{{}},"f:renewTime":{{}}}}}}}}]"#
        );
        let members = format!(
            r#""spec":{{"holderIdentity":"node-{holder}","leaseDurationSeconds":40,"renewTime":"{}.{:06}Z"}}"#,
            at.trim_end_matches('Z'),
            self.below(1_000_000)
        );
        let name = format!("node-{holder}");
        cluster.put_with_metadata(LEASES, "kube-node-lease", &name, &metadata, &members)?;
        Ok(())
    }

    /// Creates an Event, or counts one of the last hundred up.
    fn put_event(&mut self, cluster: &ScriptedCluster) -> Result<()> {
        let number = if self.below(3) == 0 {
            self.step.saturating_sub(self.below(100))
        } else {
            self.step
        };
        self.put_event_numbered(cluster, number)
    }

    /// Creates or counts up an Event of about 1.3 kB.
    pub(crate) fn put_event_numbered(
        &mut self,
        cluster: &ScriptedCluster,
        number: u64,
    ) -> Result<()> {
        let at = self.time();
        let (app, count) = (number % 40, 1 + self.below(9));
        let involved = format!("app-{app}-{app:08x}-{:05}", number % PODS);
        let metadata = format!(
            r#""managedFields":[{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"{at}","fieldsType":"FieldsV1","fieldsV1":{{"f:count":{{}},"f:firstTimestamp":{{}},"f:involvedObject":{{}},"f:lastTimestamp":{{}},"f:message":{{}},"f:reason":{{}},"f:reportingComponent":{{}},"f:reportingInstance":{{}},"f:source":{{"f:component":{{}},"f:host":{{}}}},"f:type":{{}}}}}}]"#
        );
        let members = format!(
            r#""involvedObject":{{"kind":"Pod","namespace":"apps","name":"{involved}","uid":"{number:08x}-5555-4666-8777-888888888888","apiVersion":"v1","resourceVersion":"{number}","fieldPath":"spec.containers{{main}}"}},"reason":"Unhealthy","message":"Readiness probe failed: Get \"http://10.128.{app}.{}:8080/readyz\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)","source":{{"component":"kubelet","host":"node-{}"}},"firstTimestamp":"{at}","lastTimestamp":"{at}","count":{count},"type":"Warning","eventTime":null,"reportingComponent":"kubelet","reportingInstance":"node-{}""#,
            number % 250,
            number % 50,
            number % 50
        );
        let name = format!("{involved}.{number:016x}");
        cluster.put_with_metadata("events", "apps", &name, &metadata, &members)?;
        Ok(())
    }

    /// The time of day that has come: a hundred writes make a second.
    fn time(&self) -> String {
        let secs = self.step / 100;
        let (hours, minutes) = (secs / 3600 % 24, secs / 60 % 60);
        format!("2026-11-21T{hours:02}:{minutes:02}:{:02}Z", secs % 60)
    }
}

/// Who set which fields: half of what a Pod weighs.
fn managed_fields(containers: u64, at: &str) -> String {
    let of_spec: Vec<String> = (0..containers)
        .map(|nth| format!(r#""k:{{\"name\":\"c{nth}\"}}":{{".":{{}},"f:image":{{}},"f:imagePullPolicy":{{}},"f:name":{{}},"f:ports":{{".":{{}},"k:{{\"containerPort\":8080,\"protocol\":\"TCP\"}}":{{".":{{}},"f:containerPort":{{}},"f:name":{{}},"f:protocol":{{}}}}}},"f:readinessProbe":{{".":{{}},"f:failureThreshold":{{}},"f:httpGet":{{".":{{}},"f:path":{{}},"f:port":{{}},"f:scheme":{{}}}},"f:periodSeconds":{{}},"f:successThreshold":{{}},"f:timeoutSeconds":{{}}}},"f:resources":{{".":{{}},"f:requests":{{".":{{}},"f:cpu":{{}},"f:memory":{{}}}}}},"f:securityContext":{{".":{{}},"f:allowPrivilegeEscalation":{{}},"f:capabilities":{{".":{{}},"f:drop":{{}}}}}},"f:terminationMessagePath":{{}},"f:terminationMessagePolicy":{{}}}}"#))
        .collect();
    format!(
        r#"{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-11-21T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:generateName":{{}},"f:labels":{{".":{{}},"f:app":{{}},"f:pod-template-hash":{{}}}},"f:ownerReferences":{{".":{{}},"k:{{\"uid\":\"1\"}}":{{}}}}}},"f:spec":{{"f:containers":{{{}}},"f:dnsPolicy":{{}},"f:enableServiceLinks":{{}},"f:restartPolicy":{{}},"f:schedulerName":{{}},"f:securityContext":{{}},"f:terminationGracePeriodSeconds":{{}}}}}}}},{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"{at}","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:conditions":{{"k:{{\"type\":\"ContainersReady\"}}":{{".":{{}},"f:lastProbeTime":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}},"k:{{\"type\":\"Ready\"}}":{{".":{{}},"f:lastProbeTime":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}}}},"f:containerStatuses":{{}},"f:hostIP":{{}},"f:phase":{{}},"f:podIP":{{}},"f:startTime":{{}}}}}},"subresource":"status"}}"#,
        of_spec.join(",")
    )
}

fn container(number: u64, nth: u64) -> String {
    format!(
        r#"{{"name":"c{nth}","image":"registry.example.org/app@sha256:{:064x}","command":["/usr/bin/app","serve","--listen=:8080","--v=2"],"ports":[{{"name":"http","containerPort":8080,"protocol":"TCP"}}],"env":[{{"name":"POD_NAME","valueFrom":{{"fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.name"}}}}}},{{"name":"LOG_LEVEL","value":"info"}}],"resources":{{"requests":{{"cpu":"10m","memory":"50Mi"}}}},"volumeMounts":[{{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],"readinessProbe":{{"httpGet":{{"path":"/readyz","port":8080,"scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"FallbackToLogsOnError","imagePullPolicy":"IfNotPresent","securityContext":{{"capabilities":{{"drop":["ALL"]}},"allowPrivilegeEscalation":false}}}}"#,
        number % 40
    )
}

fn container_status(number: u64, nth: u64, restarts: u64, ready: bool, at: &str) -> String {
    format!(
        r#"{{"name":"c{nth}","state":{{"running":{{"startedAt":"{at}"}}}},"lastState":{{}},"ready":{ready},"restartCount":{restarts},"image":"registry.example.org/app@sha256:{:064x}","imageID":"registry.example.org/app@sha256:{:064x}","containerID":"cri-o://{:064x}","started":{ready}}}"#,
        number % 40,
        number % 40,
        u128::from(number) * 0x9e37_79b9_7f4a_7c15 + u128::from(restarts + nth)
    )
}

const OBJECTS: u64 = 10_000;
const EVENTS: u64 = 50_000;
/// Writes after the list, to the same objects.
const CHANGES: u64 = 20_000;
/// The bound that was promised.
const MB_MOST: f64 = 250.0;

/// Measures and prints; a broken promise is an error.
pub(crate) fn show_memory() -> Result<()> {
    println!(
        "{:<10} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "memory", "objects", "MB", "changes", "peak MB", "at most"
    );
    let mut peak = 0.0_f64;
    for (name, watch_list) in [
        ("WatchList", WatchList::Served),
        ("pages", WatchList::Refused),
    ] {
        peak = peak.max(measure(name, watch_list)?);
    }
    ensure!(peak <= MB_MOST, "{peak:.0} MB are more than {MB_MOST}");
    Ok(())
}

fn measure(name: &str, watch_list: WatchList) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("large.reel");
    let kubeconfig = folder.path().join("kubeconfig");
    let cluster = ScriptedCluster::start()?;
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    cluster.set(|settings| settings.watch_list = watch_list);
    let mut life = Life::new();
    for number in 0..OBJECTS {
        life.put_pod(&cluster, number)?;
    }
    for number in 0..EVENTS {
        life.put_event_numbered(&cluster, number)?;
    }
    life.step(&cluster)?;
    let recorder = Measured::start(&reel, &kubeconfig)?;
    settle_all(&cluster)?;
    for _ in 0..CHANGES {
        life.step(&cluster)?;
    }
    settle_all(&cluster)?;
    let spent = recorder.finish()?;
    let opened = Reel::open(&reel)?;
    let bytes: usize = opened
        .scan(Seq(0))
        .take(usize::try_from(OBJECTS + EVENTS)?)
        .map(|event| event.map(|event| event.body.len()))
        .sum::<Result<_, _>>()?;
    ensure!(opened.event_count() >= OBJECTS + EVENTS + CHANGES);
    let peak = spent.peak_memory_kib as f64 * 1024.0 / 1e6;
    println!(
        "{name:<10} {:>8} {:>8.1} {CHANGES:>8} {peak:>8.1} {MB_MOST:>8.0}",
        OBJECTS + EVENTS,
        bytes as f64 / 1e6,
    );
    Ok(peak)
}

/// The unit of `/proc/PID/stat`, which is the same on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// How long anything that is sure to come may take.
pub(crate) const SURE: Duration = Duration::from_mins(5);

/// A recorder at work.
#[derive(Debug)]
pub(crate) struct Measured {
    recording: Recording,
    /// What the children that ended before had taken.
    children_before: Duration,
}

/// What a recorder took over its whole life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessCost {
    pub(crate) cpu: Duration,
    pub(crate) peak_memory_kib: u64,
}

impl Measured {
    pub(crate) fn start(reel: &Path, kubeconfig: &Path) -> Result<Self> {
        // Whatever builds the program must have ended before its time is taken.
        kubereel_tests::recording::program()?;
        let children_before = children_cpu()?;
        let recording = Recording::start(reel, kubeconfig, &["--log", "warn"])?;
        Ok(Self {
            recording,
            children_before,
        })
    }

    /// Its time on processors so far, all threads together.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        cpu_of(&format!("/proc/{}/stat", self.recording.id()), 0)
    }

    /// Has it finish the reel; says what it took from its first to its last moment.
    pub(crate) fn finish(self) -> Result<ProcessCost> {
        let watcher = kubereel_tests::peak_memory::watch(self.recording.id())?;
        let ended = self.recording.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        let peak = watcher.join().ok().context("the watcher panicked")?;
        Ok(ProcessCost {
            cpu: children_cpu()?.saturating_sub(self.children_before),
            peak_memory_kib: peak.context("no VmHWM was seen")?,
        })
    }
}

/// The time of all children that have ended and were waited for.
fn children_cpu() -> Result<Duration> {
    cpu_of("/proc/self/stat", 2)
}

/// Adds user and system time: two neighbouring fields, `skip` behind the process's own.
fn cpu_of(path: &str, skip: usize) -> Result<Duration> {
    let stat = std::fs::read_to_string(path).with_context(|| path.to_owned())?;
    // The name, in parentheses, may hold spaces; the state and ten more fields follow it.
    let (_, fields) = stat.rsplit_once(") ").context("no name in stat")?;
    let ticks: Vec<u32> = fields
        .split(' ')
        .skip(11 + skip)
        .take(2)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    Ok(TICK * ticks.iter().sum::<u32>())
}

/// This thread's time on a processor so far.
pub(crate) fn own_cpu() -> Result<Duration> {
    let path = "/proc/thread-self/schedstat";
    let line = std::fs::read_to_string(path).context(path)?;
    let nanos = line.split(' ').next().context("an empty schedstat")?;
    Ok(Duration::from_nanos(nanos.parse()?))
}

/// Writes before the measurement, so that every object of it has its first version behind it.
const BEFORE: u64 = 5_000;

/// One run's times on processors, and the time by the clock.
#[derive(Debug, Clone, Copy)]
struct Run {
    ingest: Duration,
    finish: Duration,
    clock: Duration,
}

/// Measures and prints; leaves the last run's reel.
pub(crate) fn show_rates(reel: &Path, events: u64, runs: u64) -> Result<()> {
    let mut ingests = Vec::new();
    let mut finishes = Vec::new();
    let mut clocks = Vec::new();
    for _ in 0..runs.max(1) {
        if reel.exists() {
            std::fs::remove_file(reel)?;
        }
        let run = run(reel, events)?;
        ingests.push(run.ingest);
        finishes.push(run.finish);
        clocks.push(run.clock);
    }
    let lines = watch_lines(reel)?;
    let skip = lines.len().saturating_sub(usize::try_from(events)?);
    let measured = lines.get(skip..).context("fewer lines than events")?;
    let parsings = (0..runs.max(1))
        .map(|_| parsing(measured))
        .collect::<Result<Vec<_>>>()?;
    let bytes: usize = measured.iter().map(Vec::len).sum();
    let rate = |time: Duration| events as f64 / time.as_secs_f64();
    let (ingest, parsing) = (rate(median(ingests)), rate(median(parsings)));
    println!(
        "{:<10} {:>8} {:>8} {:>12} {:>12} {:>6} {:>10} {:>12}",
        "ingest", "events", "MB", "ev/s a core", "Value ev/s", "ratio", "finish ms", "ev/s (clock)"
    );
    println!(
        "{:<10} {events:>8} {:>8.1} {ingest:>12.0} {parsing:>12.0} {:>6.2} {:>10.0} {:>12.0}",
        "generated",
        bytes as f64 / 1e6,
        ingest / parsing,
        median(finishes).as_secs_f64() * 1e3,
        rate(median(clocks)),
    );
    Ok(())
}

fn run(reel: &Path, events: u64) -> Result<Run> {
    let cluster = ScriptedCluster::start()?;
    let kubeconfig = reel.with_extension("kubeconfig");
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    let mut life = Life::new();
    for _ in 0..BEFORE {
        life.step(&cluster)?;
    }
    let recorder = Measured::start(reel, &kubeconfig)?;
    settle_all(&cluster)?;
    let held = cluster.hold();
    let mut due = lines_sent(&cluster);
    for _ in 0..events {
        *due.entry(life.step(&cluster)?).or_default() += 1;
    }
    let (before, started) = (recorder.cpu()?, Instant::now());
    drop(held);
    cluster.wait_until("every line to be sent", SURE, |cluster| {
        let sent = lines_sent(cluster);
        due.iter()
            .all(|(storage, lines)| sent.get(storage) >= Some(lines))
            .then_some(())
    })?;
    settle_all(&cluster)?;
    let (after, clock) = (recorder.cpu()?, started.elapsed());
    let spent = recorder.finish()?;
    let kept = Reel::open(reel)?.event_count();
    ensure!(
        kept >= events,
        "only {kept} of {events} events were recorded"
    );
    Ok(Run {
        ingest: after.saturating_sub(before),
        finish: spent.cpu.saturating_sub(after),
        clock,
    })
}

/// How many lines went out on the last watch of each storage.
fn lines_sent(cluster: &ScriptedCluster) -> BTreeMap<&'static str, usize> {
    let requests = cluster.requests();
    let lines = |storage: &'static str| {
        let plural = storage.split('.').next().unwrap_or(storage);
        let mut watches = requests.iter().rev();
        let last = watches.find(|one| one.asked.is_watch() && one.asked.path.ends_with(plural));
        (storage, last.map_or(0, |one| one.progress().lines))
    };
    STORAGES.into_iter().map(lines).collect()
}

/// Brings the recorder to the end of everything written.
pub(crate) fn settle_all(cluster: &ScriptedCluster) -> Result<()> {
    for storage in STORAGES {
        settle(cluster, storage, SURE)?;
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Prints a row for each reel; one that is not there is said to be missing.
pub(crate) fn show_sizes(reels: &[(&str, &Path)]) -> Result<()> {
    println!(
        "{:<10} {:>8} {:>8} {:>10} {:>8} {:>8} {:>6}",
        "size", "events", "MB", "reel bytes", "B/event", "zstd-19", "ratio"
    );
    for (name, path) in reels {
        if !path.exists() {
            println!("{name:<10} skipped: there is no {}", path.display());
            continue;
        }
        let file_bytes = std::fs::metadata(path)?.len();
        let exported = exported(path)?;
        let each = |bytes: u64| bytes as f64 / exported.events as f64;
        println!(
            "{name:<10} {:>8} {:>8.1} {file_bytes:>10} {:>8.1} {:>8.1} {:>6.2}",
            exported.events,
            exported.bytes as f64 / 1e6,
            each(file_bytes),
            each(exported.compressed_bytes),
            file_bytes as f64 / exported.compressed_bytes as f64,
        );
    }
    Ok(())
}
