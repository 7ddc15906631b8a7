import { SectionBox, SimpleTable } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import { nodeOf } from "./gpudash";
import { Line, PageLink, Status } from "./parts";
import { type CardRow, nodeView, type NodeView } from "./rows";
import { clusterOf, pageOf, type Settings } from "./settings";
import { useAnswer } from "./useAnswer";

export interface NodeSectionProps {
  settings: Settings;
  /** Name of the cluster in Headlamp. */
  cluster: string;
  name: string;
}

/** Cards of a node, the first cause of its GPU software, and its findings. */
export function NodeSection({ settings, cluster, name }: NodeSectionProps) {
  const key = JSON.stringify([settings, cluster, name]);
  const { value, error } = useAnswer(key, () => nodeOf(settings, cluster, name));
  const known = clusterOf(settings, cluster);
  return (
    <SectionBox title="gpudash">
      {error !== undefined && <Line alert>{error}</Line>}
      {error === undefined && value === undefined && <Line>Loading…</Line>}
      {value === null && (
        <Line>
          No GPU on this node in cluster {known} of gpudash. If gpudash has another name for the cluster, set it in
          Settings › Plugins › gpudash.
        </Line>
      )}
      {value && <Node view={nodeView(value)} settings={settings} cluster={known} name={name} />}
    </SectionBox>
  );
}

function Node({ view, settings, cluster, name }: NodeSectionProps & { view: NodeView }) {
  const page = pageOf(settings, "nodes", cluster, name);
  return (
    <>
      <Line>
        {view.facts.join(" · ")} · <PageLink href={page}>Open in gpudash</PageLink>
      </Line>
      {view.cause && (
        <Line>
          First cause: {view.cause.text}
          {view.cause.remedy && ` · ${view.cause.remedy}`}
        </Line>
      )}
      {view.findings.map((one) => (
        <Line key={one.id}>
          <Status
            word={{ text: one.severity, level: one.severity === "info" ? "" : (one.severity as "error" | "warning") }}
          />{" "}
          {one.text}
        </Line>
      ))}
      {view.moreFindings > 0 && (
        <Line>
          <PageLink href={page}>{view.moreFindings} more findings</PageLink>
        </Line>
      )}
      <SimpleTable
        data={view.cards}
        columns={[
          {
            label: "Card",
            getter: (row: CardRow) => <PageLink href={pageOf(settings, "cards", row.id)}>{row.card}</PageLink>,
          },
          { label: "Model", getter: (row: CardRow) => row.model },
          { label: "Allocated, GiB", getter: (row: CardRow) => row.allocated },
          { label: "Free, GiB", getter: (row: CardRow) => row.free },
          { label: "Validation", getter: (row: CardRow) => <Status word={row.validation} /> },
          { label: "Health", getter: (row: CardRow) => <Status word={row.health} /> },
        ]}
        emptyMessage="No cards."
      />
    </>
  );
}
