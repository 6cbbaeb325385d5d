/** Markdown as text: no raw HTML, no images, links only to web, mail and this site. */
import { Typography } from '@mantine/core'
import Markdown from 'markdown-to-jsx'

const SAFE_LINK = /^(https?:\/\/|mailto:|\/(?!\/)|#)/i

export function MarkdownText({ text }: { text: string }) {
  return (
    <Typography style={{ overflowWrap: 'anywhere' }}>
      <Markdown
        options={{
          disableParsingRawHTML: true,
          sanitizer: (value, _tag, attribute) =>
            attribute === 'href' && SAFE_LINK.test(value) ? value : null,
          overrides: {
            img: { component: ({ alt }: { alt?: string }) => <span>{alt}</span> },
            a: { props: { rel: 'noopener noreferrer', target: '_blank' } },
          },
        }}
      >
        {text}
      </Markdown>
    </Typography>
  )
}
