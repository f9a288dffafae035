/** A text as people paste it, from a chat or a page: only the code between fences counts, and prompts are no words. */

const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const PROMPT = /^([ \t]*)(?:[$%>]|\S+[@:][^\s$#]*[$#])[ \t]+(?=\S)/;

/** What is no code becomes spaces: every character keeps its place. */
export function pastedText(text: string): string {
  const lines = text.split('\n');
  const code = lines.some((line) => FENCE.test(line)) ? fenced(lines) : lines;
  return code.map(withoutPrompt).join('\n');
}

const blank = (line: string): string => line.replace(/[^\r]/g, ' ');

function fenced(lines: readonly string[]): readonly string[] {
  let fence: string | undefined;
  return lines.map((line) => {
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      return blank(line);
    }
    return fence === undefined ? blank(line) : line;
  });
}

/** `$ vllm serve …`, `root@host:~# vllm …`; a comment stays one. */
function withoutPrompt(line: string): string {
  const found = PROMPT.exec(line)?.[0];
  return found === undefined ? line : ' '.repeat(found.length) + line.slice(found.length);
}
