import { useEffect, useState } from "react";

/** gpudash computes new figures at most every few seconds; an open page asks twice a minute. */
const AGAIN_MS = 30_000;

export interface Answer<T> {
  /** undefined: not answered yet. */
  value?: T;
  /** Why there is no answer now. */
  error?: string;
}

/** What `load` gives, loaded again while the page is open. key: names what is asked for; another key starts anew. */
export function useAnswer<T>(key: string, load: () => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { key: string }>({ key });
  useEffect(() => {
    let open = true;
    const ask = () =>
      load().then(
        (value) => open && setAnswer({ key, value }),
        (error) => open && setAnswer({ key, error: String(error?.message ?? error) }),
      );
    ask();
    const timer = setInterval(ask, AGAIN_MS);
    return () => {
      open = false;
      clearInterval(timer);
    };
    // `load` is another function at each render, and the same for the same key.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key]);
  return answer.key === key ? answer : {};
}
