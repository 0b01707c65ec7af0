// Loads a page again if one of its scripts could not be loaded, without which the page stays empty: a change of the network aborts
// requests.

const pause = 1000;

addEventListener("error", ({ target }) => {
  if (target instanceof HTMLScriptElement) setTimeout(() => location.reload(), pause);
}, true);
