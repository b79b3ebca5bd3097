export default async function stopEngineForTests() {
  await globalThis.tollgateEngine?.stop();
}
