# The Homebrew formula, filled in by .ci/dist.
class Kubereel < Formula
  desc "Flight recorder for Kubernetes and OpenShift clusters"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "Apache-2.0"

@BOTTLES@

  def install
    bin.install "kubereel"
    bin.install_symlink "kubereel" => "kubectl-reel"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/kubereel.bash" => "kubereel"
    zsh_completion.install "completions/_kubereel"
    fish_completion.install "completions/kubereel.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/kubereel --version")
    system bin/"kubereel", "demo"
  end
end
