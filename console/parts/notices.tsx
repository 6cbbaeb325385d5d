/** Shows the notices of lib/notices.ts. */
import { Notification, Portal } from '@mantine/core'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { type Notice, notifications, onNotices, shownNotices } from '../lib/notices.ts'

export function Notices() {
  const notices = useSyncExternalStore(onNotices, shownNotices)
  return (
    <Portal>
      <div className="notices">
        {notices.map((notice) => (
          <OneNotice key={notice.id} notice={notice} />
        ))}
      </div>
    </Portal>
  )
}

function OneNotice({ notice }: { notice: Notice }) {
  const { id, title, message, color, autoClose } = notice
  const [isHeld, setHeld] = useState(false)
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => notifications.hide(id), autoClose)
    return () => clearTimeout(timer)
  }, [id, isHeld, autoClose])
  return (
    <Notification
      title={title}
      color={color}
      withBorder
      onClose={() => notifications.hide(id)}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {message}
    </Notification>
  )
}
