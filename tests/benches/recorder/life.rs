//! The writes of a busy cluster: Pods with managed fields, Leases, Events, of the sizes that real ones have. It does not
//! handle randomness it could not repeat.

use anyhow::Result;
use kubereel_tests::scripted::ScriptedCluster;

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
