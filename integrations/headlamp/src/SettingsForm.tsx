import { K8s } from "@kinvolk/headlamp-plugin/lib";
import Stack from "@mui/material/Stack";
import TextField from "@mui/material/TextField";
import { addressOf, type Settings } from "./settings";

export interface SettingsFormProps {
  data?: Settings;
  onDataChange?: (data: Settings) => void;
}

export function SettingsForm(props: SettingsFormProps) {
  const clusters = K8s.useClustersConf() ?? {};
  return <Fields {...props} clusters={Object.keys(clusters)} />;
}

/** clusters: their names in Headlamp. */
export function Fields({ data, onDataChange, clusters }: SettingsFormProps & { clusters: string[] }) {
  const settings = data ?? {};
  const change = (part: Settings) => onDataChange?.({ ...settings, ...part });
  const wrong = Boolean(settings.address) && addressOf(settings) === null;
  return (
    <Stack spacing={2}>
      <TextField
        label="Address of gpudash"
        value={settings.address ?? ""}
        onChange={(event) => change({ address: event.target.value })}
        error={wrong}
        helperText={
          wrong ? "Must be an address such as https://gpudash.example.com" : "For example https://gpudash.example.com"
        }
      />
      <TextField
        label="Token"
        type="password"
        autoComplete="off"
        value={settings.token ?? ""}
        onChange={(event) => change({ token: event.target.value })}
        helperText="An API token with the role viewer. Headlamp keeps it unencrypted in this browser, where every Headlamp plugin can read it."
      />
      {clusters.map((name) => (
        <TextField
          key={name}
          label={`Cluster ${name} in gpudash`}
          placeholder={name}
          value={settings.clusters?.[name] ?? ""}
          onChange={(event) => change({ clusters: { ...settings.clusters, [name]: event.target.value } })}
          helperText="Empty: the same name"
        />
      ))}
    </Stack>
  );
}
