import { InAppClient, presentIn } from "./client.js";

// An id of this browser, for as long as its storage lasts.
localStorage.device ??= crypto.randomUUID();

const client = new InAppClient({
  device: localStorage.device,
  user: new URLSearchParams(location.search).get("user"),
  present: presentIn(document),
});

document.querySelector("#cart").onclick = async () => {
  client.screen = "cart";
  await client.trigger({ type: "screen", name: "cart" });
  await client.trigger({ type: "event", name: "cart_opened", properties: { total: 42.5 } });
};
document.querySelector("#account").onclick = () => {
  client.screen = "account";
  return client.trigger({ type: "screen", name: "account" });
};
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") client.trigger({ type: "poll" });
});
client.trigger({ type: "sessionStart" });
