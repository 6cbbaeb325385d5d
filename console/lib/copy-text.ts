/** Text put on the clipboard, which a browser may refuse and has not at all over plain http: then it is told. */
import { useEffect, useState } from 'react'
import { notifications } from './notices.ts'

/** How long it is said that something was copied, milliseconds. */
const SAID_MS = 1_500
/** To be read, marked and copied by hand. */
const STANDS_MS = 60_000
/** What is longer would fill the screen. */
const SHOWN_MAX = 500

interface WithClipboard {
  clipboard: { writeText(text: string): Promise<void> }
}

/** @param isSeen it stands on the page, where it can be marked: only what does not is shown @returns whether it was copied */
export async function copyText(text: string, isSeen = false): Promise<boolean> {
  try {
    await (navigator as Partial<WithClipboard>).clipboard!.writeText(text)
    return true
  } catch {
    const isShown = !isSeen && text.length <= SHOWN_MAX
    notifications.show({
      id: 'copy',
      color: 'red',
      title: 'Couldn’t copy: the browser gives no access to the clipboard',
      message: isSeen
        ? 'Mark it on the page and copy it by hand'
        : isShown
          ? text
          : 'Over https, and on the machine itself, it does',
      autoClose: STANDS_MS,
    })
    return false
  }
}

/** @returns a function that copies, and whether it did just now */
export function useCopy(): { copied: boolean; copy: (text: string, isSeen?: boolean) => void } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SAID_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return { copied, copy: (text, isSeen) => void copyText(text, isSeen).then(setCopied) }
}
