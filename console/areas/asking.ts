/** Ask. One chunk: whoever opens one of these pages opens the next without waiting. */
export { default as AskPage } from '../pages/ask/ask-page.tsx'
