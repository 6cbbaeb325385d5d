/** Firings of the last days as small bars; said in words for who does not see them. */
const WIDTH = 84
const HEIGHT = 24

/** @param days firings a day, oldest first; the last is the last 24 hours */
export function Spark({ days }: { days: readonly number[] }) {
  const top = Math.max(1, ...days)
  const step = WIDTH / Math.max(1, days.length)
  const total = days.reduce((sum, n) => sum + n, 0)
  return (
    <svg
      role="img"
      aria-label={total === 0 ? 'No firings in 7 days' : `Firings a day, oldest first: ${days.join(', ')}`}
      width={WIDTH}
      height={HEIGHT}
      style={{ display: 'block', flex: 'none' }}
    >
      <title>{total === 0 ? 'No firings in 7 days' : `Firings a day: ${days.join(', ')}`}</title>
      {days.map((n, i) => {
        const tall = n === 0 ? 1.5 : Math.max(3, (n / top) * HEIGHT)
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a day is its place.
            key={i}
            className={n === 0 ? 'spark-none' : 'spark-bar'}
            x={i * step + 1}
            y={HEIGHT - tall}
            width={step - 2}
            height={tall}
            rx={1}
          />
        )
      })}
    </svg>
  )
}
