// Loads a page again if a script could not be loaded: a change of the network aborts requests, and the page stays empty without each
// of its scripts.

const pause = 1000;

addEventListener("error", ({ target }) => {
  if (target instanceof HTMLScriptElement) setTimeout(() => location.reload(), pause);
}, true);
