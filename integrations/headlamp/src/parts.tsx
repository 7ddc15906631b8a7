import { StatusLabel } from "@kinvolk/headlamp-plugin/lib/CommonComponents";
import Link from "@mui/material/Link";
import Typography from "@mui/material/Typography";
import type { ReactNode } from "react";
import type { Word } from "./rows";

/** A link to a page of gpudash, in another tab. */
export function PageLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </Link>
  );
}

/** A word with the colour of its level; without a level, plain text. */
export function Status({ word }: { word: Word }) {
  return word.level ? <StatusLabel status={word.level}>{word.text}</StatusLabel> : <span>{word.text}</span>;
}

export function Line({ children, alert }: { children: ReactNode; alert?: boolean }) {
  return (
    <Typography variant="body2" gutterBottom role={alert ? "alert" : undefined}>
      {children}
    </Typography>
  );
}
