/** How llama.cpp names models beside paths: `-hf owner/name-GGUF:Q4_K_M`. */

/** Without a tag `-hf` takes Q4_K_M where there is one. Source: llama.cpp v0.5.0, common/arg.cpp :: hf-repo. */
export function llamaModelName(text: string): string | undefined {
  const [, repository, tag] = /^([\w.-]+\/[\w.-]+?)(?::([\w.-]+))?$/.exec(text) ?? [];
  return repository && /-GGUF$/i.test(repository) && (tag === undefined || tag === 'latest')
    ? `${repository}:Q4_K_M`
    : undefined;
}
