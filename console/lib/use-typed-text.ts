import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { useStillHere } from './use-still-here.ts'

const PAUSE_MS = 300

/**
 * A text that the address holds once the typing pauses. An address that says another, as after a click on a link to the
 * page, wins over what is typed and was not held yet.
 * @param held what the address says @param hold has the address say what was typed
 * @returns what is shown; what takes a key; and what holds a text at once
 */
export function useTypedText(
  held: string,
  hold: (now: string) => void,
): [text: string, type: (now: string, waits?: boolean) => void, settle: (now: string) => void] {
  const [text, setText] = useState(held)
  const said = useRef(held)
  const isHere = useStillHere()
  const settle = (now: string) => {
    pause.cancel()
    if (!isHere() || now.trim() === said.current.trim()) return
    said.current = now
    hold(now)
  }
  const pause = useDebouncedCallback(settle, PAUSE_MS)
  useEffect(() => {
    if (held.trim() === said.current.trim()) return
    said.current = held
    pause.cancel()
    setText(held)
  }, [held, pause])
  const type = (now: string, waits = true) => {
    setText(now)
    if (waits) pause(now)
  }
  return [text, type, settle]
}
