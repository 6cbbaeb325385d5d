/** What is read only once it comes near the window: most pages are left before anybody looks below. */
import { type ReactNode, useEffect, useRef, useState } from 'react'

/** So far below the window it is read already, so that nobody who scrolls waits. */
const NEAR = '240px'

interface Props {
  /** What stands in its place until then. */
  waiting?: ReactNode
  children: ReactNode
}

export function WhenSeen({ waiting, children }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (isSeen) return
    const watching = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true), {
      rootMargin: NEAR,
    })
    watching.observe(place.current!)
    // Who goes through the page by Tab comes to it without scrolling: what is not there is passed by.
    const press = ({ key }: KeyboardEvent) => key === 'Tab' && setSeen(true)
    document.addEventListener('keydown', press)
    return () => {
      watching.disconnect()
      document.removeEventListener('keydown', press)
    }
  }, [isSeen])
  return isSeen ? children : <div ref={place}>{waiting ?? <br />}</div>
}
