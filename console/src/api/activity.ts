/** A request this long after the last key or click was caused by it; later ones are polling. */
const CAUSED_BY_INPUT_MS = 10_000

let lastInputAt = performance.now()

for (const event of ['pointerdown', 'keydown'])
  addEventListener(event, () => (lastInputAt = performance.now()), { capture: true, passive: true })

export const isOperatorActive = (): boolean => performance.now() - lastInputAt < CAUSED_BY_INPUT_MS
