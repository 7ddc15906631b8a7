import {
  ConfigStore,
  type DetailsViewSectionProps,
  registerDetailsViewSection,
  registerPluginSettings,
} from "@kinvolk/headlamp-plugin/lib";
import { NodeSection } from "./NodeSection";
import { PodSection } from "./PodSection";
import { isSet, PLUGIN, type Settings } from "./settings";
import { SettingsForm } from "./SettingsForm";

const useSettings = new ConfigStore<Settings>(PLUGIN).useConfig();

function GpudashSection({ resource }: DetailsViewSectionProps) {
  const settings = useSettings() ?? {};
  if (resource?.kind === "Node") {
    return <NodeSection settings={settings} cluster={resource.cluster} name={resource.metadata.name} />;
  }
  // Until gpudash is set, the pages of nodes say what to do; most pods have no GPU.
  if (resource?.kind === "Pod" && isSet(settings)) {
    const { namespace = "", name } = resource.metadata;
    return <PodSection settings={settings} cluster={resource.cluster} namespace={namespace} name={name} />;
  }
  return null;
}

registerDetailsViewSection(GpudashSection);
registerPluginSettings(PLUGIN, SettingsForm, true);
