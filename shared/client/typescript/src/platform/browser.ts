import type { Platform } from "./platform.js";

export const platform: Platform = {
  evaluate(source, signal) {
    const url = URL.createObjectURL(new Blob([`postMessage(${source})`], { type: "text/javascript" }));
    return new Promise((resolve, reject) => {
      const worker = new Worker(url);
      const end = (settle: () => void) => {
        worker.terminate();
        URL.revokeObjectURL(url);
        signal?.removeEventListener("abort", aborted);
        settle();
      };
      const aborted = () => end(() => reject(signal!.reason));
      worker.onmessage = message => end(() => resolve(message.data));
      worker.onerror = error => end(() => reject(new Error(error.message)));
      signal?.addEventListener("abort", aborted);
    });
  },
  unsent: () => false, // a page is not told how far a request came
};
