/** A local gpudash that gives recorded answers (recorded/, made by `python -m tests.integrations.record`). */

import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Settings } from "../src/settings";
import answers from "./recorded/answers.json";

export type Answers = Record<string, unknown>;

/** Address below /api/v1/ → answer, as the demo of gpudash gave it. */
export const RECORDED: Answers = answers;
export const CLUSTER = "demo";
export const TOKEN = "gpd_1_secret";

export interface LocalServer {
  settings: Settings;
  asked: { url: string; headers: IncomingHttpHeaders }[];
  /** Answer to all further questions, whatever they are. */
  answerAll: (status: number, body: string, headers?: Record<string, string>) => void;
  close: () => Promise<void>;
}

export async function serve(answers: Answers = RECORDED): Promise<LocalServer> {
  const asked: LocalServer["asked"] = [];
  // In tests with a document Vite resolves modules as for a browser, which has none of Node's: so it is not shown their name.
  const name = "node:http";
  const { createServer }: typeof import("node:http") = await import(/* @vite-ignore */ name);
  let fixed: { status: number; body: string; headers: Record<string, string> } | null = null;
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? "", headers: request.headers });
    // As the middleware of gpudash has it.
    const cors = {
      "Access-Control-Allow-Origin": request.headers.origin ?? "none",
      "Access-Control-Allow-Headers": "Authorization",
    };
    if (request.method === "OPTIONS") {
      response.writeHead(204, cors).end();
      return;
    }
    if (fixed) {
      response.writeHead(fixed.status, { ...cors, ...fixed.headers }).end(fixed.body);
      return;
    }
    const answer = answers[(request.url ?? "").replace("/api/v1/", "")];
    const body = JSON.stringify(answer ?? { title: "Not Found", status: 404, detail: "There is none." });
    response.writeHead(answer === undefined ? 404 : 200, { ...cors, "Content-Type": "application/json" }).end(body);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    settings: { address: `http://127.0.0.1:${port}`, token: TOKEN, clusters: { main: CLUSTER } },
    asked,
    answerAll: (status, body, headers = {}) => {
      fixed = { status, body, headers };
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}
