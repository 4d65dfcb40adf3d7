// What has to be done before the page is complete; the page says so, for those who wait for it.
const works = [];

function work(task) {
  works.push(task);
}

async function finish() {
  const outcomes = await Promise.allSettled(works.map((task) => task()));
  for (const { reason } of outcomes.filter((outcome) => outcome.status === "rejected")) console.error(reason);
  document.documentElement.dataset.done = outcomes.every((outcome) => outcome.status === "fulfilled") ? "yes" : "no";
}

// The record that the page holds by this name.
function readBlock(name) {
  return JSON.parse(document.getElementById(name).textContent);
}
