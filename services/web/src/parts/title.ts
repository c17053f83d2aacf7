// The name of the page in the tab.
export function setTitle(text: string): void {
  document.title = `${text} · wfg`;
}
