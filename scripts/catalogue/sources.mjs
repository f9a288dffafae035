// A table of source texts; rows refer to them by number. Texts that name no public place are left out.

export function sourceTable() {
  const list = [];
  const seen = new Map();
  return {
    list,
    /** Index of the source, or -1 when it names no place a reader can go to. */
    add(text) {
      const public_ = readable(text);
      if (!public_) {
        return -1;
      }
      if (!seen.has(public_)) {
        seen.set(public_, list.push(public_) - 1);
      }
      return seen.get(public_);
    },
  };
}

/** Ids of a search index mean nothing to a reader: say what the text was instead. */
function readable(text) {
  if (text === 'recall') {
    return undefined;
  }
  if (text.startsWith('find_string')) {
    return /config\.json/.test(text)
      ? 'a copy of the published config.json in a public repository'
      : 'a log in a public repository';
  }
  return text
    .replace(
      'huggingface/transformers (vendored copy in dmitrymailk/hidden_capacity_reasoning@1d7f5af):',
      'huggingface/transformers:',
    )
    .replace(
      'ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/',
      'ai-dynamo/aiconfigurator@095f58a:…/',
    );
}
