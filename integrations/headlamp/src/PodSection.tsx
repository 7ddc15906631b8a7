import { SectionBox, SimpleTable } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import { podOf } from "./gpudash";
import { Line, PageLink } from "./parts";
import { type PodRow, podView } from "./rows";
import { clusterOf, pageOf, type Settings } from "./settings";
import { useAnswer } from "./useAnswer";

export interface PodSectionProps {
  settings: Settings;
  /** Name of the cluster in Headlamp. */
  cluster: string;
  namespace: string;
  name: string;
}

/** The cards that a pod has, or why it is pending. A pod without a GPU has no section. */
export function PodSection({ settings, cluster, namespace, name }: PodSectionProps) {
  const key = JSON.stringify([settings, cluster, namespace, name]);
  const { value, error } = useAnswer(key, () => podOf(settings, cluster, namespace, name));
  if (error !== undefined) {
    return (
      <SectionBox title="gpudash">
        <Line alert>{error}</Line>
      </SectionBox>
    );
  }
  const view = value && podView(value);
  if (!view) {
    return null;
  }
  const page = pageOf(settings, "pods", clusterOf(settings, cluster), namespace, name);
  return (
    <SectionBox title="gpudash">
      <Line>
        {view.pending !== null && `Pending: ${view.pending} · `}
        <PageLink href={page}>Open in gpudash</PageLink>
      </Line>
      {view.rows.length > 0 && (
        <SimpleTable
          data={view.rows}
          columns={[
            {
              label: "Card",
              getter: (row: PodRow) =>
                row.cardId === null ? (
                  row.card
                ) : (
                  <PageLink href={pageOf(settings, "cards", row.cardId)}>{row.card}</PageLink>
                ),
            },
            { label: "Container", getter: (row: PodRow) => row.container },
            { label: "Allocated", getter: (row: PodRow) => row.amount },
          ]}
        />
      )}
    </SectionBox>
  );
}
